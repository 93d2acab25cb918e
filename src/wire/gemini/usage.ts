// Converts `usageMetadata`, whose counts are sums, to the hub's disjoint kinds and back.

import { promptTokens, replyTokens } from '../../config/prices.ts'
import { believed, countOf as count, Remainder } from '../hub/counts.ts'
import type { JsonObject, JsonValue, Usage } from '../ir.ts'
import { isObject, objectsIn, stringOf } from '../json/value.ts'

/** Tokens of one modality in a list of `ModalityTokenCount`. */
function modality(list: JsonValue | undefined, wanted: string): number {
  let tokens = 0
  for (const each of objectsIn(list)) {
    if (stringOf(each['modality']).toUpperCase() === wanted)
      tokens += count(each['tokenCount']) ?? 0
  }
  return tokens
}

/**
 * Disjoint counts; null where Google has no counts yet (first frames may hold only a traffic type) or where one is
 * implausible. `promptTokenCount` includes cached tokens; `candidatesTokenCount` excludes thoughts, which
 * `totalTokenCount` confirms (API reference, `UsageMetadata`).
 */
export function readUsage(value: JsonValue | undefined): Usage | null {
  return isObject(value) ? believed(value, read) : null
}

function read(value: JsonObject): Usage | null {
  const prompt = count(value['promptTokenCount'])
  const total = count(value['totalTokenCount'])
  const tools = count(value['toolUsePromptTokenCount']) ?? 0
  const thoughts = count(value['thoughtsTokenCount']) ?? 0
  const candidates = count(value['candidatesTokenCount'])
  if (prompt === null && (candidates === null || total === null)) return null
  const input = (prompt ?? Math.max(0, (total ?? 0) - (candidates ?? 0) - thoughts - tools)) + tools
  const left = total === null ? 0 : Math.max(0, total - input - thoughts)
  const said = candidates ?? left
  if (input + said + thoughts === 0) return null
  // Some models include thoughts in the candidates' count: the total shows which.
  const inside = thoughts > 0 && thoughts <= said && total === input + said
  return { ...promptOf(value, input), ...replyOf(value, inside ? said - thoughts : said, thoughts) }
}

/** The last report of a stream; where it leaves out the reply, with the counts of the reply so far. */
export function laterUsage(before: Usage | null, now: Usage): Usage {
  if (before === null || replyTokens(now) > 0) return now
  const { output, reasoning, audioOutput, imageOutput } = before
  return {
    ...now,
    output,
    reasoning,
    ...(audioOutput !== undefined && { audioOutput }),
    ...(imageOutput !== undefined && { imageOutput }),
  }
}

function promptOf(value: JsonObject, input: number) {
  const rest = new Remainder(input)
  const cachedInput = rest.take(count(value['cachedContentTokenCount']) ?? 0)
  const split = (kind: string): number =>
    modality(value['promptTokensDetails'], kind) +
    modality(value['toolUsePromptTokensDetails'], kind) -
    modality(value['cacheTokensDetails'], kind)
  const audioInput = rest.take(split('AUDIO'))
  const imageInput = rest.take(split('IMAGE'))
  return {
    input: rest.left,
    cachedInput,
    cacheWrite: 0,
    ...(audioInput > 0 && { audioInput }),
    ...(imageInput > 0 && { imageInput }),
  }
}

function replyOf(value: JsonObject, output: number, reasoning: number) {
  const rest = new Remainder(output)
  const audioOutput = rest.take(modality(value['candidatesTokensDetails'], 'AUDIO'))
  const imageOutput = rest.take(modality(value['candidatesTokensDetails'], 'IMAGE'))
  return {
    output: rest.left,
    reasoning,
    ...(audioOutput > 0 && { audioOutput }),
    ...(imageOutput > 0 && { imageOutput }),
  }
}

function details(text: number, audio: number, image: number): JsonObject[] {
  const kinds = [
    ['TEXT', text],
    ['AUDIO', audio],
    ['IMAGE', image],
  ] as const
  return kinds
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([kind, tokenCount]) => ({ modality: kind, tokenCount }))
}

/** Writes disjoint counts as Google's `usageMetadata`, whose prompt count is a sum. */
export function writeUsage(usage: Usage): JsonObject {
  const { audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0 } = usage
  const prompt = promptTokens(usage)
  const text = prompt - audioInput - imageInput
  const said = replyTokens(usage) - usage.reasoning
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: said,
    totalTokenCount: prompt + said + usage.reasoning,
    ...(usage.cachedInput > 0 && { cachedContentTokenCount: usage.cachedInput }),
    promptTokensDetails: details(text, audioInput, imageInput),
    ...(audioOutput + imageOutput > 0 && {
      candidatesTokensDetails: details(usage.output, audioOutput, imageOutput),
    }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  }
}
