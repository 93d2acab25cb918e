// The cases that each agent must pass, and how each result is checked.

import type { Agent } from './agents.ts'
import { lastWords, type Outcome, refusalWords } from './run-one.ts'
import type { Script } from './vendor.ts'
import { picture, resultText } from './work.ts'

export interface Case {
  readonly name: string
  readonly about: string
  readonly script: Script
  readonly prompt: string
  readonly picture?: true
  readonly cancels?: true
  readonly limitMs: number
  /** What is wrong, in words; null if nothing is. */
  fault(outcome: Outcome, agent: Agent): string | null
}

/** Base64 of the picture, or of a JPEG: some agents convert every picture to that. */
const pictureStart = new RegExp(`${picture.slice(0, 20)}|/9j/[\\w+/]{20}`)

const work = 'Write the text that was agreed on to result.txt, then say that all is done.'

function firstOf(...faults: readonly (string | false)[]): string | null {
  return faults.find((each) => each !== false) || null
}

/** The checks that apply to every case. */
function common({ exitCode, heldNano, seen, statuses }: Outcome): readonly (string | false)[] {
  return [
    exitCode === null && 'it did not end',
    seen.complaints.length > 0 && `the vendor was sent what it refuses: ${seen.complaints[0]}`,
    seen.bodies.length === 0 && 'the vendor was not asked',
    heldNano !== '0' && `${heldNano} billionths stay held`,
    statuses.length === 0 && 'nothing was recorded',
  ]
}

/** The words may be divided into lines. */
const says = ({ output }: Outcome, words: string) =>
  output.replaceAll(/[\s│]+/g, ' ').includes(words)

function finished(outcome: Outcome): readonly (string | false)[] {
  return [
    ...common(outcome),
    !says(outcome, lastWords) && 'the last words are not shown',
    outcome.exitCode !== 0 && `it ended with ${outcome.exitCode}`,
  ]
}

export const cases: readonly Case[] = [
  {
    name: 'tools',
    about: 'a tool writes a file, its result goes back, the answer is shown',
    script: { kind: 'write' },
    prompt: work,
    limitMs: 90_000,
    fault: (outcome, { writesBy, offers }) =>
      firstOf(
        outcome.written?.trim() !== resultText && `the file holds ${outcome.written}`,
        offers?.(outcome.seen.tools) === false && 'its usual tools were not offered',
        writesBy === 'tool' && outcome.seen.answers === 0 && 'the result did not go back',
        ...finished(outcome),
      ),
  },
  {
    name: '400',
    about: "the vendor's refusal is shown in its words",
    script: { kind: 'refuse', status: 400, times: Number.POSITIVE_INFINITY },
    prompt: work,
    limitMs: 120_000,
    fault: (outcome) =>
      firstOf(...common(outcome), !says(outcome, refusalWords) && 'the refusal is not shown'),
  },
  {
    name: '429',
    about: 'once too often, with `retry-after: 1`: it waits and goes on',
    script: { kind: 'refuse', status: 429, times: 1 },
    prompt: work,
    limitMs: 120_000,
    fault: (outcome) => firstOf(...finished(outcome)),
  },
  {
    name: '503',
    about: 'three failures in a row: it gives up with an error, or goes on after them',
    script: { kind: 'refuse', status: 503, times: 3 },
    prompt: work,
    limitMs: 120_000,
    fault: (outcome) =>
      firstOf(
        ...common(outcome),
        !says(outcome, lastWords) &&
          !/error|fail|unavailable|503|overloaded/i.test(outcome.output) &&
          'neither an answer nor an error is shown',
      ),
  },
  {
    name: 'broken',
    about: 'every stream breaks off in an error: it ends and says so',
    script: { kind: 'break' },
    prompt: work,
    limitMs: 180_000,
    fault: (outcome) =>
      firstOf(
        ...common(outcome),
        !/error|fail|disconnected|broke|cut off|ended early|incomplete|unavailable|50[03]/i.test(
          outcome.output,
        ) && 'no error is shown',
      ),
  },
  {
    name: 'cancel',
    about: "Ctrl-C amid a stream: the vendor's request is aborted, what came is charged",
    script: { kind: 'silent' },
    prompt: work,
    cancels: true,
    limitMs: 60_000,
    fault: (outcome) =>
      firstOf(...common(outcome), !outcome.seen.isLeft && 'the vendor is kept at work'),
  },
  {
    name: 'picture',
    about: 'a picture reaches the vendor',
    script: { kind: 'text' },
    prompt: 'Look at the picture and say that all is done.',
    picture: true,
    limitMs: 90_000,
    fault: (outcome) =>
      firstOf(
        !outcome.seen.bodies.some((body) => pictureStart.test(body)) &&
          'the vendor was not given the picture',
        ...finished(outcome),
      ),
  },
]

/** An agent that attaches no picture is told to read it with a tool. */
export function scriptOf({ script, picture: shows }: Case, { sees }: Agent): Script {
  return shows && sees === 'read' ? { kind: 'read' } : script
}
