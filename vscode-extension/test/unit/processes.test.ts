import assert from "node:assert/strict";
import { test } from "node:test";
import { runProgram } from "../../src/processes";

const skip = process.platform === "win32" ? "the program of this test is a shell script" : false;

test("a program has ended when it has, though a child that it left holds its output open", { skip, timeout: 120_000 }, async (context) => {
  const options = { cwd: "/", env: process.env, timeout_ms: 100_000 };
  const { succeeded, output } = await runProgram({ command: "/bin/sh", args: [] }, ["-c", "sleep 600 & echo $!"], options);
  context.after(() => {
    process.kill(Number(output), "SIGKILL");
  });
  assert.ok(succeeded);
  assert.match(output, /^\d+\n$/);
});
