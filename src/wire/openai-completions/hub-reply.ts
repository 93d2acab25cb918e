// Reads legacy completion replies, streamed and whole, into hub events and writes them from it.

import type { Reader, Writer, WriterHead } from '../codec.ts'
import { fold } from '../hub/fold.ts'
import type { ChatEvent, FinishReason, JsonObject, JsonValue, PartHead, Usage } from '../ir.ts'
import { isObject } from '../json/value.ts'
import { writeUsage } from '../openai/usage.ts'
import { ChatReader } from '../openai-chat/hub-reader.ts'
import type { ReplyQuirks } from '../reply.ts'

/** The reply in the chat format: the text of each choice becomes its message. */
function asChat(reply: JsonObject, field: 'delta' | 'message'): JsonObject {
  if (!Array.isArray(reply['choices'])) return reply
  const choices = reply['choices'].map((choice) => {
    if (!isObject(choice)) return choice
    const { text = null, logprobs: _, ...rest } = choice
    return { ...rest, [field]: { content: text } }
  })
  return { ...reply, choices }
}

export class CompletionReader implements Reader {
  private readonly chat: ChatReader

  constructor(quirks: ReplyQuirks) {
    this.chat = new ChatReader(quirks)
  }

  frame(data: string): readonly ChatEvent[] {
    return this.chat.parsed(data, (frame) => asChat(frame, 'delta'))
  }

  end(): readonly ChatEvent[] {
    return this.chat.end()
  }

  whole(body: JsonValue): readonly ChatEvent[] {
    return this.chat.whole(isObject(body) ? asChat(body, 'message') : body)
  }
}

/** A completion has no reasoning; a refusal becomes its text. */
function isText(head: PartHead): boolean {
  return head.type === 'text' || head.type === 'refusal'
}

/** A completion has no tools and therefore no `tool_calls` finish reason. */
function finishOf(reason: FinishReason | null): string | null {
  return reason === 'tool_calls' ? 'stop' : reason
}

export class CompletionWriter implements Writer {
  private readonly head: WriterHead
  private readonly texts = new Set<string>()
  private prefix: string
  private readonly suffix: string
  private usage: Usage | null = null

  constructor(head: WriterHead) {
    this.head = head
    this.prefix = this.prefixOf(head.model, head.createdAt)
    this.suffix = head.wantsUsage ? ',"usage":null}\n\n' : '}\n\n'
  }

  event(event: ChatEvent): string {
    switch (event.type) {
      case 'response-start':
        this.prefix = this.prefixOf(
          event.model || this.head.model,
          event.createdAt || this.head.createdAt,
        )
        return ''
      case 'part-start':
        if (isText(event.head)) this.texts.add(`${event.choice}:${event.part}`)
        return ''
      case 'part-delta':
        if (!this.texts.has(`${event.choice}:${event.part}`)) return ''
        return this.chunk(event.choice, event.text, null)
      case 'choice-end':
        return this.chunk(event.choice, '', finishOf(event.reason))
      case 'usage':
        this.usage = event.usage
        return ''
      default:
        return ''
    }
  }

  end(): string {
    const done = 'data: [DONE]\n\n'
    if (!this.head.wantsUsage || this.usage === null) return done
    return `${this.prefix}"choices":[],"usage":${JSON.stringify(writeUsage(this.usage))}}\n\n${done}`
  }

  private prefixOf(model: string, created: number): string {
    const text = JSON.stringify({ id: this.head.id, object: 'text_completion', created, model })
    return `data: ${text.slice(0, -1)},`
  }

  private chunk(index: number, text: string, finish: string | null): string {
    const choice = JSON.stringify({ text, index, logprobs: null, finish_reason: finish })
    return `${this.prefix}"choices":[${choice}]${this.suffix}`
  }
}

/** Usage is left out where none is known: the caller counts tokens then. */
export function writeWhole(events: readonly ChatEvent[], head: WriterHead): JsonObject {
  const reply = fold(events)
  return {
    id: head.id,
    object: 'text_completion',
    created: reply.createdAt || head.createdAt,
    model: reply.model || head.model,
    choices: reply.choices.map(({ index, parts, reason }) => ({
      text: parts
        .filter((part) => isText(part.head))
        .map(({ text }) => text)
        .join(''),
      index,
      logprobs: null,
      finish_reason: finishOf(reason),
    })),
    ...(reply.usage !== null && { usage: writeUsage(reply.usage) }),
  }
}
