/** Which session a request belongs to. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "vitest";
import "../../../test/support/property-seed.ts";
import type { Part } from "../../core/model/entry.ts";
import { type Conversation, Conversations, type Placement } from "./conversations.ts";
import type { Message, ModelRequest } from "./provider-api.ts";

const text = (words: string): readonly Part[] => [{ type: "text", text: words }];
const user = (words: string): Message => ({ role: "user", parts: text(words) });
const model = (words: string): Message => ({ role: "assistant", parts: text(words) });

const TOOLS = [{ name: "look" }];
const REQUEST: ModelRequest = {
  api: "anthropic",
  model: "m",
  system: text("Be short."),
  tools: TOOLS,
  messages: [],
  previousResponse: null,
  isStructured: false,
};

class Talks {
  readonly conversations = new Conversations();
  #answers = 0;

  ask(messages: readonly Message[], more: Partial<ModelRequest> = {}, group = ""): Placement {
    return this.conversations.place({ ...REQUEST, messages, ...more }, group);
  }

  answer(conversation: Conversation, words: string | null): string {
    const id = `id${++this.#answers}`;
    const answer = words === null ? null : { parts: text(words), isWhole: true };
    this.conversations.answered(conversation, answer, words === null ? null : id);
    return id;
  }

  asked(messages: readonly Message[], words: string | null, more = {}, group = ""): Placement {
    const placement = this.ask(messages, more, group);
    this.answer(placement.conversation, words);
    return placement;
  }
}

test("a request that extends a conversation continues it, without the answer that it repeats", () => {
  const talks = new Talks();
  const first = talks.asked([user("a")], "A");
  const next = talks.asked([user("a"), model("A"), user("b")], "B");
  assert.deepEqual([first.relation, next.relation, next.from], ["new", "continued", 2]);
  assert.equal(next.conversation, first.conversation);
});

test("an answer that was changed is kept as the program sent it", () => {
  const talks = new Talks();
  talks.asked([user("a")], "A");
  assert.equal(talks.ask([user("a"), model("Another"), user("b")]).from, 1);
});

test("another prefix is a fork; another run with the same first words is not", () => {
  const talks = new Talks();
  const first = talks.asked([user("a")], "A");
  talks.asked([user("a"), model("A"), user("b")], "B");
  const fork = talks.asked([user("a"), model("A"), user("c")], "C");
  assert.deepEqual([fork.relation, fork.from], ["fork", 0]);
  assert.equal(fork.conversation.parent, first.conversation);
  const again = talks.asked([user("a")], "A2");
  assert.deepEqual([again.relation, again.conversation.parent], ["new", null]);
  // Both runs go on: their answers tell them apart.
  assert.equal(talks.ask([user("a"), model("A2"), user("d")]).conversation, again.conversation);
});

test("the same request after a failure is a retry, and while the first is open it is another", () => {
  const talks = new Talks();
  const first = talks.ask([user("a")]);
  assert.equal(talks.ask([user("a")]).relation, "new");
  talks.answer(first.conversation, null);
  const third = talks.ask([user("a")]);
  assert.deepEqual([third.relation, third.conversation], ["retry", first.conversation]);
});

test("a side call is a conversation of its own, linked to the one it is about", () => {
  const talks = new Talks();
  const { conversation } = talks.asked([user("Which tree is it?")], "A linden.");
  const title = talks.asked([user("Title of: Which tree is it?")], "Trees", { tools: [] });
  assert.deepEqual([title.relation, title.conversation.parent], ["side", conversation]);
  const messages = [user("Which tree is it?"), model("A linden."), user("Who speaks next?")];
  const check = talks.asked(messages, "{}", { tools: [], isStructured: true });
  assert.deepEqual([check.relation, check.from], ["side", 2]);
  const next = talks.ask([...messages.slice(0, 2), user("How old?")]);
  assert.deepEqual([next.relation, next.conversation], ["continued", conversation]);
});

test("of a program that names its session, others than the first with tools are linked", () => {
  const talks = new Talks();
  const title = talks.asked([user("t")], "T", { tools: [] }, "g");
  const main = talks.asked([user("a")], "A", {}, "g");
  const agent = talks.asked([user("task")], "done", {}, "g");
  assert.equal(talks.conversations.mainOf("g"), main.conversation);
  assert.notEqual(title.conversation, main.conversation);
  assert.equal(agent.conversation.parent, main.conversation);
  assert.equal(talks.asked([user("a")], "A", {}, "h").conversation.parent, null);
});

const SUMMARY = "The user asked for a tree next to the well; it is an old linden.";

test.each(["", "g"])("a compacted history continues its session (header: %j)", (group) => {
  const talks = new Talks();
  const { conversation } = talks.asked([user("a")], "A", {}, group);
  const before = [user("a"), model("A"), user("b")];
  talks.asked(before, "B", {}, group);
  const wish = [...before, model("B"), user("Summarise.")];
  talks.asked(wish, `<analysis>x</analysis><summary>${SUMMARY}</summary>`, {}, group);
  const messages = [user(`This session is continued. ${SUMMARY}`), user("c")];
  const next = talks.ask(messages, {}, group);
  assert.deepEqual([next.relation, next.from, next.summary], ["compacted", 0, 0]);
  assert.equal(next.conversation, conversation);
});

test("an answer that is handed to another agent is no compaction", () => {
  const talks = new Talks();
  talks.asked([user("Write a draft of a report about trees.")], SUMMARY);
  assert.equal(talks.ask([user(`Review this: ${SUMMARY}`)]).relation, "new");
});

test("previous_response_id is followed, and an older one forks", () => {
  const talks = new Talks();
  const { conversation } = talks.ask([user("a")]);
  const first = talks.answer(conversation, "A");
  const next = talks.ask([user("b")], { previousResponse: first });
  assert.deepEqual([next.relation, next.conversation, next.from], ["continued", conversation, 0]);
  talks.answer(conversation, "B");
  assert.equal(talks.ask([user("c")], { previousResponse: first }).relation, "fork");
});

test("thoughts and reminders that a program leaves out later do not matter", () => {
  const talks = new Talks();
  const reminder: Part = { type: "text", text: "<system-reminder>It is Monday." };
  const first = { role: "user" as const, parts: [reminder, ...text("a")] };
  const { conversation } = talks.asked([first], "A");
  const thought: Message = { role: "assistant", parts: [{ type: "reasoning", text: "Hm" }] };
  const next = talks.ask([user("a"), thought, model("A"), user("b")]);
  assert.deepEqual([next.relation, next.conversation], ["continued", conversation]);
});

test("however many conversations are interleaved, each gets its own messages, once", () => {
  const steps = fc.array(fc.tuple(fc.nat(4), fc.boolean()), { maxLength: 40 });
  fc.assert(
    fc.property(steps, (turns) => {
      const talks = new Talks();
      const histories: Message[][] = [];
      const recorded = new Map<Conversation, Message[]>();
      for (const [who, isForked] of turns) {
        const known = histories[who] ?? [];
        histories[who] = known;
        // A fork leaves out the last two messages, and says something else.
        const isCut = isForked && known.length >= 4;
        if (isCut) known.splice(-2);
        known.push(user(`${who} says ${known.length} ${recorded.size}`));
        const { conversation, from, relation } = talks.ask(known);
        assert.equal(relation === "fork", isCut);
        const kept = recorded.get(conversation) ?? [];
        recorded.set(conversation, kept);
        kept.push(...known.slice(from));
        const words = `Answer to ${known.length} of ${who}`;
        talks.answer(conversation, words);
        known.push(model(words));
        kept.push(model(words));
        assert.deepEqual(kept, known);
      }
    }),
  );
});
