// The part of the OpenAPI document outside the control API: written by hand, as data beside this file.

import account from './account.json' with { type: 'json' }
import audio from './audio.json' with { type: 'json' }
import chat from './chat.json' with { type: 'json' }
import googleChats from './gemini.json' with { type: 'json' }
import images from './images.json' with { type: 'json' }
import lists from './lists.json' with { type: 'json' }
import messages from './messages.json' with { type: 'json' }
import responses from './responses.json' with { type: 'json' }
import shared from './shared.json' with { type: 'json' }
import videos from './videos.json' with { type: 'json' }

type Data = Readonly<Record<string, unknown>>

interface Operation extends Data {
  /** The group of shared.json that the operation takes its common parts from. */
  readonly 'x-group': string
  readonly parameters?: readonly object[]
  readonly responses: Readonly<Record<string, Response>>
}

interface Response extends Data {
  readonly content?: Readonly<Record<string, Data>>
}

/** The operations and schemas of one interface. */
interface Part {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly schemas: Data
}

interface Group {
  readonly security: readonly object[]
  readonly parameters: readonly object[]
  /** Headers of all replies, refusals included. */
  readonly headers: Data
  /** The refusals. */
  readonly responses: Readonly<Record<string, object>>
}

/** The parts of an OpenAPI document that describe these operations. */
export interface Description {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, Data>>
  readonly components: Readonly<Record<string, Data>>
}

const parts: readonly Part[] = [
  chat,
  responses,
  messages,
  googleChats,
  lists,
  images,
  audio,
  videos,
  account,
]
const groups: ReadonlyMap<string, Group> = new Map(Object.entries(shared.groups))

/** Describes all operations below `/v1`, in Google's format, of a key's own account, and of the server itself. */
export function describeV1(): Description {
  const paths = parts.flatMap((part) =>
    Object.entries(part.paths).map(([path, operations]) => [path, described(operations)] as const),
  )
  const schemas = Object.assign({}, shared.components.schemas, ...parts.map((part) => part.schemas))
  return {
    tags: shared.tags,
    paths: Object.fromEntries(paths),
    components: { ...shared.components, schemas },
  }
}

function described(operations: Part['paths'][string]): Data {
  return Object.fromEntries(
    Object.entries(operations).map(([method, operation]) => [method, withGroup(operation)]),
  )
}

function withGroup({ 'x-group': name, parameters = [], ...operation }: Operation): Data {
  const group = groups.get(name)
  if (group === undefined) throw new Error(`shared.json has no group ${name}`)
  const isEstimated = group.parameters.some((each) => '$ref' in each && each.$ref === showCost)
  const own = Object.entries(operation.responses).map(([status, response]) => {
    const said = isEstimated && status.startsWith('2') ? withEstimate(response) : response
    return [status, { ...said, headers: group.headers }] as const
  })
  return {
    ...operation,
    security: group.security,
    parameters: [...parameters, ...group.parameters],
    responses: { ...group.responses, ...Object.fromEntries(own) },
  }
}

const showCost = '#/components/parameters/ShowCost'
const estimate = { $ref: '#/components/schemas/CostEstimate' }

/** With `x-tollgate-cost: estimate` the reply is one, whatever the operation replies otherwise. */
function withEstimate({ content = {}, ...response }: Response): Response {
  const json = content['application/json']
  const schema = json === undefined ? estimate : { anyOf: [json['schema'], estimate] }
  return { ...response, content: { ...content, 'application/json': { ...json, schema } } }
}
