// An OpenAPI document for tests: its operations, and whether it describes a given reply.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json | undefined
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required: boolean
  readonly schema: JsonObject
  readonly example: Json | undefined
}

export interface Content {
  /** Its schema, as a pointer into the document. */
  readonly at: string
  readonly schema: JsonObject
  readonly example: Json | undefined
}

export interface Operation {
  readonly id: string
  /** In lower case. */
  readonly method: string
  readonly path: string
  readonly parameters: readonly Parameter[]
  /** Body schemas, by media type; null: it takes no body. */
  readonly body: ReadonlyMap<string, Content> | null
  /** By status: the reply's schemas, by media type. */
  readonly responses: ReadonlyMap<string, ReadonlyMap<string, Content>>
  /** No authentication is needed. */
  readonly open: boolean
}

export class Described {
  readonly document: JsonObject
  readonly operations: readonly Operation[]
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: JsonObject) {
    this.document = document
    this.#ajv.addSchema({ ...document, $id: 'document' })
    this.operations = operationsOf(document)
  }

  operation(id: string): Operation {
    const found = this.operations.find((operation) => operation.id === id)
    if (found === undefined) throw new Error(`the document has no operation ${id}`)
    return found
  }

  /** A schema, or the one that it refers to. */
  resolved(value: Json | undefined): JsonObject {
    return resolvedIn(this.document, value)
  }

  /** What is wrong with a value by the schema at a pointer; null: nothing. */
  fault(at: string, value: unknown): string | null {
    let validate = this.#validators.get(at)
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `document#${at}` })
      this.#validators.set(at, validate)
    }
    return validate(value) ? null : this.#ajv.errorsText(validate.errors)
  }

  /** What in a reply the document does not describe for this operation; null: nothing. */
  undescribed({ responses }: Operation, { status, type, body }: Reply): string | null {
    const contents = responses.get(String(status))
    if (contents === undefined) return `status ${status} is not described`
    if (contents.size === 0) return body.length === 0 ? null : `status ${status} has a body`
    const content = contentFor(contents, type)
    if (content === null) return `status ${status} of type ${type} is not described`
    for (const value of valuesOf(type, body)) {
      const fault = this.fault(content.at, value)
      if (fault !== null) return `status ${status}: ${fault}`
    }
    return null
  }
}

/** A reply read to its end. */
export interface Reply {
  readonly status: number
  /** Its media type, without parameters; '' if it has none. */
  readonly type: string
  readonly body: string
}

export async function replyOf(response: Response): Promise<Reply> {
  const { status, headers } = response
  const [type = ''] = (headers.get('content-type') ?? '').split(';')
  return { status, type: type.trim().toLowerCase(), body: await response.text() }
}

/** A type may cover several: `image/*`. */
function contentFor(contents: ReadonlyMap<string, Content>, type: string): Content | null {
  for (const [name, content] of contents) {
    const pattern = name.replace(/[.+]/g, '\\$&').replaceAll('*', '.*')
    if (new RegExp(`^${pattern}$`).test(type)) return content
  }
  return null
}

/** The part of a body that its schema describes: JSON, each event's data, the text itself. */
function valuesOf(type: string, body: string): unknown[] {
  if (/[/+]json$/.test(type)) return [JSON.parse(body)]
  if (type !== 'text/event-stream') return [body]
  const data = body.matchAll(/^data: (.*)$/gm)
  return [...data].flatMap(([, text = '']) => (text === '[DONE]' ? [] : [JSON.parse(text)]))
}

function operationsOf(document: JsonObject): Operation[] {
  const resolved = (value: Json | undefined) => resolvedIn(document, value)
  const contentsOf = (at: string, value: Json | undefined) =>
    new Map(
      Object.entries(objectOf(value)).map(([type, content]) => {
        const { schema, example } = objectOf(content)
        const place = `${at}/${escaped(type)}/schema`
        return [type, { at: place, schema: objectOf(schema), example }] as const
      }),
    )
  const one = (path: string, method: string, operation: JsonObject): Operation => {
    const place = `/paths/${escaped(path)}/${method}`
    const { requestBody, responses, parameters, security, operationId } = operation
    const asked = listOf(parameters).map(resolved)
    return {
      id: String(operationId),
      method,
      path,
      parameters: asked.map(({ name, in: where, required, schema, example }) => ({
        name: String(name),
        in: String(where),
        required: required === true,
        schema: resolved(schema),
        example,
      })),
      body:
        requestBody === undefined
          ? null
          : contentsOf(`${place}/requestBody/content`, objectOf(requestBody)['content']),
      responses: new Map(
        Object.entries(objectOf(responses)).map(([status, response]) => {
          const { $ref: reference } = objectOf(response)
          const at =
            typeof reference === 'string' ? reference.slice(1) : `${place}/responses/${status}`
          return [status, contentsOf(`${at}/content`, resolved(response)['content'])]
        }),
      ),
      open: listOf(security).length === 0,
    }
  }
  return Object.entries(objectOf(document['paths'])).flatMap(([path, item]) =>
    Object.entries(objectOf(item)).map(([method, operation]) =>
      one(path, method, objectOf(operation)),
    ),
  )
}

function resolvedIn(document: JsonObject, value: Json | undefined): JsonObject {
  const found = objectOf(value)
  const { $ref: reference } = found
  if (typeof reference !== 'string') return found
  return resolvedIn(document, valueAt(document, reference.slice(1)))
}

/** The value at a JSON pointer in this document. */
function valueAt(document: JsonObject, pointer: string): Json | undefined {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Json | undefined>(
      (value, part) => objectOf(value)[part.replaceAll('~1', '/').replaceAll('~0', '~')],
      document,
    )
}

function objectOf(value: Json | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : {}
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

/** Encoded as a part of a JSON pointer within a URI. */
function escaped(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
