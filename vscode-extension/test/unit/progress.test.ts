import assert from "node:assert/strict";
import { test } from "node:test";
import { growth, type Report } from "../../src/model/progress";

const at = (percentage: number, message = ""): Report => ({ kind: "report", message, percentage });

test("reports of where it stands become by how much it grows", () => {
  const grown = growth();
  assert.deepEqual([at(0), at(40), at(90)].map(grown), [{ increment: 0 }, { increment: 40 }, { increment: 50 }]);
});

test("a report that falls back grows by nothing, and none grows above the whole", () => {
  const grown = growth();
  assert.deepEqual([at(50), at(10), at(250)].map(grown), [{ increment: 50 }, { increment: 0 }, { increment: 50 }]);
});

test("a report without words leaves the words that stand there", () => {
  assert.deepEqual(growth()(at(1, "Summarizing: call 1 of 3")), { message: "Summarizing: call 1 of 3", increment: 1 });
  assert.equal("message" in growth()(at(1)), false);
});
