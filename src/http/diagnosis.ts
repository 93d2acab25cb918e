// Says what is wrong with a request that was refused before any vendor was asked: as a code and as a sentence.

import { nearest } from '../config/problems.ts'
import type { KeyPrincipal } from '../identity/principal.ts'
import type { Arrival } from '../store/arrivals.ts'
import { scrub } from '../telemetry/scrub.ts'
import { otherFormat } from '../wire/other-format.ts'
import { endpoints } from './endpoints.ts'
import type { TurnedAway } from './front.ts'
import { pathOf } from './request.ts'
import { type Recognise, shownKey } from './shown-key.ts'

interface DiagnosisRooms {
  readonly recognise: Recognise
  /** Names of the models that this key may use. */
  models(principal: KeyPrincipal): readonly string[]
  /** Whether a group has the model, for its keys without model restrictions of their own. */
  groupHas(group: string, model: string): boolean
}

type Finding = Pick<Arrival, 'code' | 'detail'> & { readonly suggestion?: string | null }

const longestText = 200
/** Of a path no more is examined: patterns take longer than in proportion to its length. */
const longestPath = 500

/** The result holds no secret, and nothing of the request's body except the model's name. */
export function diagnose(away: TurnedAway, rooms: DiagnosisRooms): Arrival {
  const { request, requestId, at, caller, principal, error, status, peek } = away
  const shown = principal === null ? shownKey(request, rooms.recognise) : null
  const byKey = error.code === 'invalid_api_key' && shown !== null && shown.mistake !== null
  const found = byKey ? { code: shown.mistake, detail: shown.detail } : findingOf(away, rooms)
  const userAgent = request.headers.get('user-agent')
  return {
    requestId,
    at,
    account: principal?.account ?? shown?.key?.account ?? null,
    keyId: principal?.keyId ?? shown?.key?.keyId ?? null,
    address: caller.address,
    status,
    method: request.method.slice(0, 20),
    path: short(pathOf(request.url)),
    model: peek === null ? null : short(peek.model),
    userAgent: userAgent === null ? null : short(userAgent),
    code: found.code,
    suggestion: found.suggestion ?? null,
    detail: scrub(found.detail).slice(0, 2 * longestText),
  }
}

function short(text: string): string {
  return scrub(text.slice(0, longestText))
}

function findingOf(away: TurnedAway, rooms: DiagnosisRooms): Finding {
  const { error } = away
  const asIs = error.message
  switch (error.code) {
    case 'invalid_api_key': {
      const isAddress = error.detail.shownCode === 'ip_not_authorized'
      return { code: isAddress ? 'address_not_allowed' : 'key_unknown', detail: asIs }
    }
    case 'model_not_found':
      return ofModel(away, rooms)
    case 'upgrade_required':
      return { code: 'websocket_not_served', detail: asIs }
    case 'not_found':
      return away.unrouted === true
        ? ofPath(pathOf(away.request.url).slice(0, longestPath))
        : { code: 'refused', detail: asIs }
    case 'unsupported_endpoint': {
      const doubled = ofPath(pathOf(away.request.url).slice(0, longestPath))
      return doubled.code === 'path_doubled'
        ? doubled
        : { code: 'endpoint_not_offered', detail: asIs }
    }
    case 'method_not_allowed':
      return { code: 'method_not_allowed', detail: asIs }
    case 'invalid_request_error':
      return ofFormat(away) ?? { code: 'request_invalid', detail: asIs }
    case 'insufficient_quota':
      return { code: 'no_credit', detail: asIs }
    case 'rate_limit_exceeded':
      return { code: 'rate_limited', detail: asIs }
    default:
      return { code: 'refused', detail: asIs }
  }
}

function ofModel({ principal, peek, error }: TurnedAway, rooms: DiagnosisRooms): Finding {
  if (principal === null || peek === null) return { code: 'model_unknown', detail: error.message }
  const { model } = peek
  const suggestion = nearest(model, rooms.models(principal))
  if (rooms.groupHas(principal.group, model)) {
    const detail = `The key's own list of models excludes '${model}'.`
    return { code: 'model_not_allowed', detail, suggestion }
  }
  const near = suggestion === null ? '' : ` The nearest one is '${suggestion}'.`
  const detail = `The group '${principal.group}' of the key has no model '${model}'.${near}`
  return { code: 'model_unknown', detail, suggestion }
}

/** Paths without parameters, the longest first. */
const plainPaths = [...new Set(endpoints.map(({ path }) => path))]
  .filter((path) => !/[:*]/.test(path) && !path.startsWith('/api/'))
  .sort((one, other) => other.length - one.length)

function ofPath(path: string): Finding {
  const meant = plainPaths.find((each) => path.endsWith(each))
  const suggestion = meant === undefined ? null : `/v1${meant}`
  const isDoubled =
    /\/(v\d\w*)\/(?:.*\/)?\1(?:\/|$)/.test(path) ||
    (meant !== undefined && path.indexOf(meant) < path.lastIndexOf(meant))
  if (isDoubled) {
    const detail = `The path repeats a part: the base address must end in /v1, and the client adds the rest.`
    return { code: 'path_doubled', detail, suggestion }
  }
  if (/^\/(?:projects|publishers)\//.test(path)) {
    const detail = 'The version is missing: the base address must end in /v1 or /v1beta1.'
    return { code: 'version_missing', detail, suggestion: `/v1${path}`.slice(0, longestText) }
  }
  const near =
    suggestion ??
    nearest(
      path,
      plainPaths.map((each) => `/v1${each}`),
    )
  const detail = `Nothing is served at this path.${near === null ? '' : ` The nearest valid path is ${near}.`}`
  return { code: 'path_unknown', detail, suggestion: near }
}

/** Finds a body in another format than its path takes; null: it is not, or this cannot be told. */
function ofFormat({ format, body, request }: TurnedAway): Finding | null {
  const other = body === null || format === null ? null : otherFormat(body, format, request.headers)
  if (other === null) return null
  const detail = `The body is in the format of ${other.path} but was sent to a path that expects that of ${other.asked}. Choose the other format in the client, or the other path.`
  return { code: 'wrong_format', detail, suggestion: other.path }
}
