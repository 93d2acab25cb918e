// Converts token probabilities between Google's `logprobsResult` and OpenAI's list of tokens.

import type { JsonObject } from '../ir.ts'
import { objectsIn, stringOf } from '../json/value.ts'
import { numberOf } from './fields.ts'

const encoder = new TextEncoder()

function tokenOf(candidate: JsonObject): JsonObject {
  const token = stringOf(candidate['token'])
  const logprob = numberOf(candidate['logProbability']) ?? 0
  return { token, logprob, bytes: [...encoder.encode(token)] }
}

/** The probabilities in OpenAI's form; empty where the candidate has none. */
export function readLogprobs(result: JsonObject): JsonObject[] {
  const tops = objectsIn(result['topCandidates'])
  return objectsIn(result['chosenCandidates']).map((chosen, at) => ({
    ...tokenOf(chosen),
    top_logprobs: objectsIn(tops[at]?.['candidates']).map(tokenOf),
  }))
}

function candidateOf(token: JsonObject): JsonObject {
  return { token: stringOf(token['token']), logProbability: numberOf(token['logprob']) ?? 0 }
}

export function writeLogprobs(tokens: readonly JsonObject[]): JsonObject {
  return {
    topCandidates: tokens.map((token) => ({
      candidates: objectsIn(token['top_logprobs']).map(candidateOf),
    })),
    chosenCandidates: tokens.map(candidateOf),
  }
}
