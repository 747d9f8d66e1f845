import assert from "node:assert/strict";
import { test } from "node:test";
import { Work } from "../../src/model/work";

test("the server works while a command runs, but not while the user is asked", () => {
  const work = new Work();
  const seen = [work.isWorking];
  const end = work.begin();
  seen.push(work.isWorking);
  const answer = work.ask();
  seen.push(work.isWorking);
  answer();
  seen.push(work.isWorking);
  end();
  seen.push(work.isWorking);
  assert.deepEqual(seen, [false, true, false, true, false]);
});

test("beside a command that waits for the user another one works", () => {
  const work = new Work();
  const ends = [work.begin(), work.ask(), work.begin()];
  assert.equal(work.isWorking, true);
  ends.forEach((end) => {
    end();
  });
  assert.equal(work.isWorking, false);
});

test("a question that no command has asked keeps no command from being seen", () => {
  const work = new Work();
  const answer = work.ask();
  assert.equal(work.isWorking, false);
  const end = work.begin();
  assert.equal(work.isWorking, true);
  answer();
  assert.equal(work.isWorking, true);
  end();
});
