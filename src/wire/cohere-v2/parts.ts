// Assembles the parts of a Cohere reply (text, reasoning and calls) into hub events.

import type { ChatEvent, JsonObject, JsonValue, UrlCitation } from '../ir.ts'
import { isObject, jsonTextOf, objectOf, stringOf } from '../json/value.ts'

interface Call {
  readonly key: string
  readonly part: number
  /** Input that may turn out to be `null`, which Cohere sends for a call without input. */
  held: string
  said: boolean
}

interface OpenText {
  readonly type: 'text' | 'reasoning'
  readonly part: number
  /** The vendor's index, which separates consecutive parts of one type. */
  readonly key: string
}

const nothing = 'null'

/** The URL and title of a cited document; Cohere's own documents have a URL only if the client gave one. */
function addressOf(source: JsonValue): { url: string; title: string } | null {
  const document = isObject(source) ? source['document'] : null
  if (!isObject(document)) return null
  const url = stringOf(document['url'])
  return /^https?:/i.test(url) ? { url, title: stringOf(document['title']) } : null
}

export class Parts {
  private readonly tell: (event: ChatEvent) => void
  private next = 0
  private open: OpenText | null = null
  private readonly calls: Call[] = []
  /** The index of the first text, to which citations without an index belong. */
  private firstText: string | null = null

  constructor(tell: (event: ChatEvent) => void) {
    this.tell = tell
  }

  get called(): boolean {
    return this.calls.length > 0
  }

  say(type: OpenText['type'], key: string, text: string): void {
    if (text === '') return
    if (this.open === null || this.open.type !== type || this.open.key !== key) {
      this.closeText()
      this.open = { type, part: this.next++, key }
      if (type === 'text') this.firstText ??= key
      this.tell({ type: 'part-start', choice: 0, part: this.open.part, head: { type } })
    }
    this.tell({ type: 'part-delta', choice: 0, part: this.open.part, text })
  }

  /** Closes the open text. It stays open until another part begins, because its citations follow it. */
  closeText(): void {
    if (this.open === null) return
    this.tell({ type: 'part-end', choice: 0, part: this.open.part })
    this.open = null
  }

  /** Begins a call with the input it has so far; `key` is the vendor's index. */
  call(key: string, value: JsonObject): void {
    this.closeText()
    const target = objectOf(value['function'])
    const part = this.next++
    const name = stringOf(target['name'])
    const id = stringOf(value['id']) || `${name}_${this.calls.length}`
    const head = { type: 'tool-call', id, name } as const
    this.tell({ type: 'part-start', choice: 0, part, head })
    const call = { key, part, held: '', said: false }
    this.calls.push(call)
    this.input(call, jsonTextOf(target['arguments']))
  }

  /** Adds to the input of the latest call under this index. */
  more(key: string, value: JsonObject): void {
    const target = objectOf(value['function'])
    const call = this.calls.findLast((each) => each.key === key)
    if (call === undefined) this.call(key, value)
    else this.input(call, jsonTextOf(target['arguments']))
  }

  private input(call: Call, text: string): void {
    call.held += text
    if (!call.said && nothing.startsWith(call.held.trim())) return
    if (call.held === '') return
    this.tell({ type: 'part-delta', choice: 0, part: call.part, text: call.held })
    call.said = true
    call.held = ''
  }

  /**
   * Emits a citation of the open text; one without a URL is left out. With `key`, only a citation that belongs to the
   * text under this index counts.
   */
  cite(value: JsonValue, key: string | null): void {
    if (!isObject(value) || this.open?.type !== 'text') return
    const { sources, start, end, content_index: index } = value
    if (key !== null && key !== String(index ?? this.firstText)) return
    if (!Array.isArray(sources)) return
    const { part } = this.open
    const [found] = sources.map(addressOf).filter((address) => address !== null)
    if (found === undefined) return
    const ranged = typeof start === 'number' && typeof end === 'number' && end > start
    const citation: UrlCitation = {
      url: found.url,
      ...(found.title !== '' && { title: found.title }),
      ...(ranged && { start, end }),
    }
    this.tell({ type: 'citation', choice: 0, part, citation })
  }

  /** Closes all open parts. */
  end(): void {
    this.closeText()
    for (const { part, said } of this.calls) {
      // Official clients parse the arguments, and neither an empty text nor `null` is an object.
      if (!said) this.tell({ type: 'part-delta', choice: 0, part, text: '{}' })
      this.tell({ type: 'part-end', choice: 0, part })
    }
  }
}
