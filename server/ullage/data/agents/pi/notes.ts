/**
 * Lines that are told to the model beside the session: the gauge, and what the service has to say.
 *
 * Each stays where it was first put, after the same message, in every later request. A line that
 * moved with the end of the conversation would part each request from the prefix that the provider
 * has cached for the one before, and that where the context is largest. Behind the last message
 * there is never a tool call without its result. With that message (compacted, or on another
 * branch) the line goes.
 */
import type { ContextEvent } from "@mariozechner/pi-coding-agent";

export type Message = ContextEvent["messages"][number];

const NOTE_TYPE = "ullage-note";

export interface Note {
  kind: "gauge" | "checkpointRestore" | "advice" | "warning";
  text: string;
}

interface Placed extends Note {
  after: string;
  timestamp: number;
}

export class Notes {
  private placed: readonly Placed[] = [];

  /** Put new notes behind the last message, and give the messages with all notes. */
  insert(messages: readonly Message[], notes: readonly Note[]): Message[] {
    const last = messages.at(-1);
    if (last !== undefined && last.role !== "assistant") {
      const [after, timestamp] = [keyOf(last), Date.now()];
      this.placed = [...this.placed, ...notes.map((note) => ({ ...note, after, timestamp }))];
    }
    const indexes = new Map(messages.map((message, index) => [keyOf(message), index]));
    this.placed = this.placed.filter((note) => indexes.has(note.after));
    return messages.flatMap((message, index) => [
      message,
      ...this.placed.filter((note) => indexes.get(note.after) === index).map(asMessage),
    ]);
  }

  drop(kind: Note["kind"]): void {
    this.placed = this.placed.filter((note) => note.kind !== kind);
  }
}

function keyOf(message: Message): string {
  const callId = message.role === "toolResult" ? message.toolCallId : "";
  return `${message.role} ${message.timestamp} ${callId}`;
}

function asMessage({ text, timestamp }: Placed): Message {
  return { role: "custom", customType: NOTE_TYPE, content: text, display: false, timestamp };
}
