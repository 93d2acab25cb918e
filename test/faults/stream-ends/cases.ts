// Every way in which a vendor may end, break or never end its stream, as scripts with the expected result of each.

import { Buffer } from 'node:buffer'
import { secrets } from '../../support/shared-gateways.ts'
import {
  chunk,
  forever,
  hang,
  lastChunk,
  reply,
  reset,
  type Script,
  type Step,
  send,
} from '../../support/upstream.ts'
import type { Ending, ErrorKind, Section, Wire } from './wires.ts'

export interface Case {
  readonly name: string
  readonly script: Script
  readonly ending: Ending
  /** As `Special.alikeEnding`. */
  readonly alikeEnding?: Ending | undefined
  /** Content came before. */
  readonly spoke: boolean
  /** Its channel has short timers: the vendor stops sending in this case. */
  readonly isHasty: boolean
  /** The bytes of the vendor that the client must not get. */
  readonly hidden?: string
}

/** The text of the vendor's errors in every case; the key in it must not reach the client. */
export const words = 'The vendor says no.'
const wordsWithKey = `${words} Key ${secrets[0]}.`

const order: readonly Section[] = ['head', 'text', 'finish', 'usage', 'terminal']

interface Position {
  readonly name: string
  /** The last section that came, complete. */
  readonly after: Section
  readonly bytes: Uint8Array
}

function through(wire: Wire, last: Section | null): Uint8Array {
  const until = last === null ? 0 : order.indexOf(last) + 1
  return Buffer.concat(order.slice(0, until).flatMap((section) => wire.sections[section]))
}

function positionsOf(wire: Wire): readonly Position[] {
  const { head, text, usage, terminal } = wire.sections
  const amid = Buffer.concat([...head, ...text.slice(0, 1)])
  const finished: readonly Position[] = [
    { name: 'after the finish', after: 'finish', bytes: through(wire, 'finish') },
    { name: 'after the usage', after: 'usage', bytes: through(wire, 'usage') },
    { name: 'after the terminal event', after: 'terminal', bytes: through(wire, 'terminal') },
  ]
  return [
    { name: 'before content', after: 'head', bytes: through(wire, 'head') },
    { name: 'amid content', after: 'text', bytes: amid },
    ...finished.filter(
      ({ after }) =>
        (after !== 'usage' || usage.length > 0) && (after !== 'terminal' || terminal.length > 0),
    ),
  ]
}

const isPast = (at: Section, since: Section): boolean => order.indexOf(at) >= order.indexOf(since)

/** Empty pieces are left out, since they would end the body. */
const piece = (bytes: Uint8Array): readonly Step[] =>
  bytes.length === 0 ? [] : [send(chunk(bytes))]

function streamed(wire: Wire, bytes: Uint8Array, ...rest: Step[]): Script {
  return [send(wire.head), ...piece(bytes), ...rest]
}

/** An error of the vendor counts until its terminal event, and nothing after that. */
function saidAt(wire: Wire, at: Position): readonly Case[] {
  const rest = { spoke: at.after !== 'head', isHasty: false }
  const isOver = at.after === 'terminal'
  const reported = (['failed', 'rejected', 'limited'] satisfies ErrorKind[]).map((kind) => ({
    name: `an error (${kind}) ${at.name}`,
    script: streamed(wire, at.bytes, send(chunk(wire.error(kind, wordsWithKey))), send(lastChunk)),
    ending: isOver ? ('well' as const) : kind,
    ...rest,
  }))
  const left = {
    name: `an error ${at.name}, and the socket kept open`,
    script: streamed(wire, at.bytes, send(chunk(wire.error('failed', wordsWithKey))), hang),
    ending: isOver ? ('well' as const) : ('failed' as const),
    ...rest,
  }
  const broken = (['garbage', 'wrongType', 'tooLong'] as const).map((what) => ({
    name: `${what} ${at.name}`,
    script: streamed(wire, at.bytes, send(chunk(wire[what])), send(lastChunk)),
    ending: isOver ? ('well' as const) : ('broken' as const),
    ...rest,
  }))
  return [...reported, left, ...broken]
}

function lostAt(wire: Wire, at: Position): readonly Case[] {
  const spoke = at.after !== 'head'
  const ends = (since: Section): Ending => (isPast(at.after, since) ? 'well' : 'broken')
  return [
    {
      name: `a clean end ${at.name}`,
      script: streamed(wire, at.bytes, send(lastChunk)),
      ending: ends(wire.cleanAfter),
      spoke,
      isHasty: false,
    },
    {
      name: `a reset ${at.name}`,
      script: streamed(wire, at.bytes, reset),
      ending: ends(wire.wholeAfter),
      spoke,
      isHasty: false,
    },
    {
      name: `silence ${at.name}`,
      script: streamed(wire, at.bytes, hang),
      ending: ends(wire.wholeAfter),
      spoke,
      isHasty: !isPast(at.after, wire.wholeAfter),
    },
  ]
}

const isEvents = (wire: Wire): boolean => wire.head.includes('text/event-stream')

/** A whole stream with something around its terminal event. */
function aroundTheEnd(wire: Wire): readonly Case[] {
  const whole = through(wire, 'terminal')
  const well = { ending: 'well', spoke: true, isHasty: false } as const
  const again = Buffer.concat([...wire.sections.finish, ...wire.sections.terminal])
  const cases: Case[] = [
    { ...well, name: 'nothing wrong', script: streamed(wire, whole, send(lastChunk)) },
    {
      ...well,
      name: 'the finish and the terminal event twice',
      script: streamed(wire, whole, ...piece(again), send(lastChunk)),
    },
  ]
  if (wire.sections.terminal.length > 0) {
    cases.push({
      ...well,
      name: 'the stream once more after its terminal event',
      script: streamed(wire, Buffer.concat([whole, whole]), send(lastChunk)),
    })
  }
  if (isEvents(wire)) {
    const comment = chunk(': still here\n\n')
    cases.push({
      ...well,
      name: 'comments for ever after the end',
      script: streamed(wire, whole, forever(comment, 50)),
    })
  }
  return cases
}

function emptyData(wire: Wire): readonly Case[] {
  if (!isEvents(wire)) return []
  const { head, text, finish, usage, terminal } = wire.sections
  return ['data:\n\n', 'data: \n\n', 'event: vendor_news\ndata:\n\n'].map((line) => ({
    name: `an empty line of data (${JSON.stringify(line)})`,
    script: streamed(
      wire,
      Buffer.concat([
        ...head,
        ...text,
        Buffer.from(line),
        ...finish,
        Buffer.from(line),
        ...usage,
        ...terminal,
      ]),
      send(lastChunk),
    ),
    ending: 'well',
    spoke: true,
    isHasty: false,
    hidden: line,
  }))
}

/** Bytes that are sent in place of a stream. */
function inPlace(wire: Wire): readonly Case[] {
  if (!isEvents(wire)) return []
  const rejected = Buffer.from(wire.error('rejected', wordsWithKey)).toString('utf8')
  const body = rejected.slice(rejected.indexOf('{')).trim()
  const rest = { ending: 'rejected', spoke: false, isHasty: false } as const
  return [
    { ...rest, name: 'a JSON error of status 200', script: [reply(200, body)] },
    {
      ...rest,
      name: 'a JSON error where events are announced',
      script: streamed(wire, Buffer.from(body), send(lastChunk)),
    },
    {
      ...rest,
      ending: 'broken',
      name: 'a page where events are announced',
      script: streamed(wire, Buffer.from('<html>no</html>\n\n'), send(lastChunk)),
    },
  ]
}

export function casesOf(wire: Wire): readonly Case[] {
  const specials = wire.specials.map(({ name, after, bytes, ending, alikeEnding }) => ({
    name,
    script: streamed(wire, Buffer.concat([through(wire, after), bytes]), send(lastChunk)),
    ending,
    alikeEnding,
    spoke: true,
    isHasty: false,
  }))
  const positions = positionsOf(wire)
  return [
    ...positions.flatMap((at) => [...saidAt(wire, at), ...lostAt(wire, at)]),
    ...aroundTheEnd(wire),
    ...emptyData(wire),
    ...inPlace(wire),
    ...specials,
  ]
}
