// What the transcript of a session's input audio is charged for: as its vendor reports it, else as counted here.

import { Buffer } from 'node:buffer'
import { type Authorization, noUsage } from '../../billing/authorization.ts'
import type { ReplySummary } from '../../billing/settlement.ts'
import { countedTokens } from '../../meter/ceiling.ts'
import type { Usage } from '../../wire/ir.ts'
import type { TranscriptUsage } from '../../wire/openai-realtime/usage.ts'
import type { Units } from '../../wire/request.ts'

/** Converts transcribed audio between tokens and seconds, where the vendor counts another unit than the card prices. */
const tokensPerSecond = 10

export interface Transcribed {
  readonly reported: TranscriptUsage | null
  /** The length of the audio, as far as the gateway knows it. */
  readonly seconds: number
  readonly text: string
}

/** What is held for a transcript, whichever unit its card prices. */
export function expectedOf(said: Transcribed): { readonly usage: Usage; readonly units: Units } {
  const { usage, seconds } = said.reported ?? countedUsage(said)
  const { audioInput = 0 } = usage
  return {
    usage: { ...usage, audioInput: audioInput + tokensIn(seconds ?? 0) },
    units: { second: seconds ?? (audioInput / tokensPerSecond || said.seconds) },
  }
}

/** Models are priced by the second or by tokens; converts if the vendor counts the other unit. */
export function transcriptSummary({ rate }: Authorization, said: Transcribed): ReplySummary {
  const { reported } = said
  const rest = { outputBytes: null, finishReason: null, model: null }
  const bySecond = rate.prices('second')
  const { usage, seconds } = reported ?? countedUsage(said)
  const hasPricedTokens = reported !== null && seconds === null && rate.charge(usage, null) > 0n
  if (!bySecond || hasPricedTokens) {
    const all = seconds === null ? usage : { ...usage, audioInput: tokensIn(seconds) }
    return reported === null ? { ...rest, usage: null, counted: all } : { ...rest, usage: all }
  }
  const lasted = seconds ?? (usage.audioInput ?? 0) / tokensPerSecond
  if (reported === null || lasted === 0)
    return { ...rest, usage: null, counted: noUsage, units: { second: said.seconds } }
  return { ...rest, usage, units: { second: lasted } }
}

function countedUsage({ seconds, text }: Transcribed): TranscriptUsage {
  return { usage: { ...noUsage, output: countedTokens(Buffer.byteLength(text)) }, seconds }
}

function tokensIn(seconds: number): number {
  return Math.ceil(seconds * tokensPerSecond)
}
