// Tests tools in the form that a vendor accepts, and its calls under the client's names.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent, ChatRequest, Tool, ToolChoice } from '../ir.ts'
import { CallRestorer, type FittedTools, fitTools } from './fit-tools.ts'

const everyVendor = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const traits = { dialect: 'anthropic-messages', everyType: false }

function asking(tools: readonly Tool[], more: Partial<ChatRequest> = {}): ChatRequest {
  return { model: 'm', messages: [], stream: true, tools, ...more }
}

const named = (name: string): Tool => ({ type: 'function', name })
const search: Tool = { type: 'other', extra: { 'openai-responses': { type: 'web_search' } } }

function namesOf({ request }: FittedTools): string[] {
  return (request.tools ?? []).flatMap((tool) => (tool.type === 'other' ? [] : [tool.name]))
}

function restored(fitted: FittedTools, events: readonly ChatEvent[]): ChatEvent[] {
  if (fitted.calls === null) return [...events]
  const restorer = new CallRestorer(fitted.calls)
  return events.flatMap((event) => restorer.event(event) as ChatEvent | ChatEvent[])
}

function callOf(name: string, ...pieces: string[]): ChatEvent[] {
  const place = { choice: 0, part: 1 }
  return [
    { type: 'part-start', ...place, head: { type: 'tool-call', id: 'c1', name } },
    ...pieces.map((text): ChatEvent => ({ type: 'part-delta', ...place, text })),
    { type: 'part-end', ...place },
  ]
}

describe('names', () => {
  const names = fc.uniqueArray(
    fc.oneof(
      fc.string({ minLength: 1 }),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
      fc.stringMatching(/^mcp\.[a-z:/ ]{1,120}$/),
      fc.constantFrom('a.b', 'a:b', 'a_b', '1', '-', 'é'.repeat(80)),
    ),
    { maxLength: 12 },
  )

  test('are unique, fit every vendor, and come back as they were', () => {
    fc.assert(
      fc.property(names, (given) => {
        const fitted = fitTools(asking(given.map(named)), traits)
        const names = namesOf(fitted)
        expect(new Set(names).size).toBe(given.length)
        for (const name of names) expect(name).toMatch(everyVendor)
        const heads = names.flatMap((name) => restored(fitted, callOf(name)).slice(0, 1))
        expect(heads.map((event) => event.type === 'part-start' && event.head)).toEqual(
          given.map((name) => ({ type: 'tool-call', id: 'c1', name })),
        )
      }),
    )
  })

  test('are the same in calls of the past, in the choice, and in every request', () => {
    fc.assert(
      fc.property(names, (given) => {
        const [first] = given
        if (first === undefined) return
        const call = { type: 'tool-call', id: 'c1', name: first, arguments: '{}' } as const
        const messages = [{ role: 'assistant', parts: [call] }] as const
        const toolChoice: ToolChoice = { mode: 'tool', name: first }
        const once = fitTools(asking(given.map(named)), traits)
        const again = fitTools(asking(given.map(named), { messages, toolChoice }), traits)
        const [name] = namesOf(once)
        expect(namesOf(again)).toEqual(namesOf(once))
        expect(again.request.toolChoice).toEqual({ mode: 'tool', name: name ?? '' })
        expect(again.request.messages[0]?.parts[0]).toMatchObject({ name })
      }),
    )
  })

  test('a request that fits is left as it is', () => {
    const request = asking([named('get_weather')])
    expect(fitTools(request, traits)).toEqual({ request, dropped: [], calls: null })
    expect(fitTools(request, traits).request).toBe(request)
  })
})

describe('a tool that only another vendor runs', () => {
  test('is left out and named', () => {
    const google: Tool = { type: 'other', extra: { gemini: { googleSearch: {} } } }
    const { request, dropped } = fitTools(asking([named('f'), search, google]), traits)
    expect(request.tools).toEqual([named('f')])
    expect(dropped).toEqual(['tools.web_search', 'tools.googleSearch'])
  })

  test('leaves a request without tools where there was no other', () => {
    const { request, dropped } = fitTools(
      asking([search], { toolChoice: { mode: 'required' } }),
      traits,
    )
    expect([request.tools, request.toolChoice]).toEqual([undefined, undefined])
    expect(dropped).toEqual(['tools.web_search', 'tool_choice'])
  })

  test.each<[ToolChoice, ToolChoice, string[]]>([
    [{ mode: 'tool', name: 'web_search' }, { mode: 'auto' }, ['tool_choice']],
    [{ mode: 'tool', name: 'f' }, { mode: 'tool', name: 'f' }, []],
    [{ mode: 'required' }, { mode: 'required' }, []],
    [
      { mode: 'allowed', names: ['web_search', 'f'], required: true },
      { mode: 'allowed', names: ['f'], required: true },
      [],
    ],
    [{ mode: 'allowed', names: ['web_search'], required: true }, { mode: 'none' }, ['tool_choice']],
  ])('a choice of %j becomes %j', (toolChoice, expected, named_) => {
    const { request, dropped } = fitTools(asking([named('f'), search], { toolChoice }), traits)
    expect(request.toolChoice).toEqual(expected)
    expect(dropped).toEqual(['tools.web_search', ...named_])
  })

  test('stays where the vendor speaks its format', () => {
    const request = asking([search])
    const own = { dialect: 'openai-responses', everyType: false }
    expect(fitTools(request, own).request).toBe(request)
  })
})

describe('a tool whose input is text', () => {
  const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } }
  const patch: Tool = { type: 'custom', name: 'apply_patch', description: 'Edits.', format }

  test('is a function with one text, which its answer is given as', () => {
    const call = {
      type: 'tool-call',
      id: 'c0',
      name: 'apply_patch',
      arguments: 'a "patch"',
    } as const
    const messages = [{ role: 'assistant', parts: [{ ...call, custom: true as const }] }] as const
    const fitted = fitTools(asking([patch], { messages }), traits)
    const [tool] = fitted.request.tools ?? []
    expect(tool).toMatchObject({
      type: 'function',
      name: 'apply_patch',
      parameters: { required: ['input'] },
    })
    expect(tool?.type === 'function' && tool.description).toContain('start: "x"')
    expect(fitted.request.messages[0]?.parts).toEqual([
      { ...call, arguments: '{"input":"a \\"patch\\""}' },
    ])
    const events = restored(fitted, callOf('apply_patch', '{"inp', 'ut":"*** Be', 'gin\\n"}'))
    expect(events[0]).toMatchObject({ head: { name: 'apply_patch', custom: true } })
    const text = events.map((event) => (event.type === 'part-delta' ? event.text : '')).join('')
    expect(text).toBe('*** Begin\n')
    expect(events.at(-1)?.type).toBe('part-end')
  })

  test('stays one where the vendor has such tools', () => {
    const request = asking([patch])
    const own = { dialect: 'openai-chat', everyType: true }
    expect(fitTools(request, own).request).toBe(request)
  })
})

test('calls that come at once are told apart', () => {
  const tools: Tool[] = [
    { type: 'custom', name: 'a' },
    { type: 'custom', name: 'b' },
  ]
  const [one, two] = [callOf('a', '{"input":"1', '2"}'), callOf('b', '{"input":"3', '4"}')]
  const apart = two.map((event) => ('part' in event ? { ...event, part: 2 } : event))
  const mixed = one.flatMap((event, at) => [event, apart[at] as ChatEvent])
  const events = restored(fitTools(asking(tools), traits), mixed)
  const textOf = (part: number) =>
    events
      .map((each) => (each.type === 'part-delta' && each.part === part ? each.text : ''))
      .join('')
  expect([textOf(1), textOf(2)]).toEqual(['12', '34'])
})
