// Describes what is not the control API's for the OpenAPI document: written by hand, as data beside this file.

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
  /** What it has in common with others: one of the groups of shared.json. */
  readonly 'x-group': string
  readonly parameters?: readonly object[]
  readonly responses: Readonly<Record<string, object>>
}

/** The operations and schemas of one interface. */
interface Part {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly schemas: Data
}

interface Group {
  readonly security: readonly object[]
  readonly parameters: readonly object[]
  /** Of its replies, refusals included. */
  readonly headers: Data
  /** How it refuses. */
  readonly responses: Readonly<Record<string, object>>
}

/** What of an OpenAPI document describes these. */
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

/** Every operation below `/v1`, in Google's format, of a key's own account and of the server itself. */
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
  const own = Object.entries(operation.responses).map(
    ([status, response]) => [status, { ...response, headers: group.headers }] as const,
  )
  return {
    ...operation,
    security: group.security,
    parameters: [...parameters, ...group.parameters],
    responses: { ...group.responses, ...Object.fromEntries(own) },
  }
}
