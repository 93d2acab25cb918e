// Azure OpenAI: the operator's own host, a key header of its own, and deployments in the path of dated API versions.

import type { Fault } from '../errors.ts'
import { amendments } from './amendments.ts'
import { allAndCompaction, audioDialects, openaiCompatible, openaiPath } from './compatible.ts'
import { deployedImages } from './openai-images.ts'
import { openaiListeners } from './openai-transcripts.ts'
import { deployedParameters } from './parameters.ts'
import { pathSegment, queryValue } from './path-segment.ts'
import { offersToolsToThinker, responsesFirst } from './responses-first.ts'
import { raisedLimit } from './responses-limit.ts'
import { shortCallIds, withoutForeign } from './sent-back.ts'
import type { Call, ChannelSettings, ServedModel, Vendor } from './vendor.ts'

/**
 * Without `apiVersion`, or with `v1` or `preview`: the v1 API, which takes the deployment as `model` and needs no date;
 * with a date the older API, which has the deployment in the path. Microsoft, "API version lifecycle". A base address
 * that ends in `/models` is a Foundry model-inference endpoint, which has no deployments.
 */
function address(call: Call, settings: ChannelSettings): string {
  const path = openaiPath(call.dialect)
  const version = settings.options.apiVersion ?? 'v1'
  const host = settings.baseUrl.replace(/\/openai(\/v1)?$/, '')
  if (call.dialect === 'openai-realtime') return session(host, version, call.model)
  if (version === 'v1') return `${host}/openai/v1${path}`
  if (version === 'preview') return `${host}/openai/v1${path}?api-version=preview`
  const query = `?api-version=${encodeURIComponent(version)}`
  // This path has no deployment: the body names it.
  if (path.startsWith('/responses')) return `${host}/openai${path}${query}`
  if (host.endsWith('/models')) return host + path + query
  return `${host}/openai/deployments/${pathSegment(call.model)}${path}${query}`
}

/** Microsoft, "Use the GPT Realtime API via WebSockets": the URL of a session names the deployment. */
function session(host: string, version: string, model: string): string {
  const name = queryValue(model)
  if (version === 'v1') return `${host}/openai/v1/realtime?model=${name}`
  if (version === 'preview') return `${host}/openai/v1/realtime?api-version=preview&model=${name}`
  return `${host}/openai/realtime?api-version=${encodeURIComponent(version)}&deployment=${name}`
}

/** The `code` of an error is the status in digits, or a name of Azure's own. */
function refine(fault: Fault, _status: number, body: string): Fault {
  if (/"code":\s*"DeploymentNotFound"/.test(body)) return { ...fault, kind: 'unknown_model' }
  if (/"code":\s*"insufficient_quota"/.test(body)) return { ...fault, kind: 'quota' }
  return fault
}

const speaks = [
  ...allAndCompaction,
  'openai-images',
  'openai-image-edits',
  'openai-realtime',
  ...audioDialects,
] as const
const newerInResponses = responsesFirst(speaks)
/** The first dated version with Responses (Microsoft, "API version lifecycle"). */
const firstWithResponses = '2025-03-01'

function speaksFor(served: ServedModel) {
  const { apiVersion = 'v1' } = served.options
  const isDated = /^\d/.test(apiVersion)
  const isOlder = isDated && apiVersion < firstWithResponses
  // A Foundry model-inference endpoint has chats alone.
  const isInference = isDated && served.baseUrl?.replace(/\/+$/, '').endsWith('/models') === true
  return isOlder || isInference ? null : newerInResponses(served)
}

export const azureOpenai = openaiCompatible({
  id: 'azure-openai',
  ownedBy: 'azure',
  baseUrl: null,
  environment: 'AZURE_OPENAI_API_KEY',
  environmentBaseUrl: 'AZURE_OPENAI_ENDPOINT',
  speaks,
  speaksFor,
  address,
  signature: { headers: (settings) => (settings.key === null ? [] : [['api-key', settings.key]]) },
  quirks: {
    refine,
    parameters: deployedParameters,
    amend: amendments(withoutForeign, shortCallIds, raisedLimit),
    refusesThoughts: true,
    encryptsReasoning: true,
    everyTool: true,
    asksInFirst: offersToolsToThinker,
  },
  adapters: {
    'openai-images': deployedImages,
    'openai-image-edits': deployedImages,
    'openai-transcriptions': openaiListeners,
  },
}) satisfies Vendor
