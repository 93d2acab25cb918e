// Tests that the published schema, the documentation and the shipped example agree with the code.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { configJsonSchema, defaultSettings } from './json-schema.ts'

const root = join(import.meta.dir, '../..')

interface Node {
  readonly type?: string
  readonly pattern?: string
  readonly description?: string
  readonly default?: unknown
  readonly additionalProperties?: Node | boolean
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly anyOf?: readonly Node[]
}

/** Every key of the schema with its path: `server.port`, `channels[].id`, `groups.NAME.models`. */
function keys(node: Node, path = ''): { path: string; node: Node }[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, inner]) => {
    const at = path === '' ? name : `${path}.${name}`
    const named = inner.additionalProperties
    return [
      { path: at, node: inner },
      ...keys(inner, at),
      ...(inner.items === undefined ? [] : keys(inner.items, `${at}[]`)),
      ...(typeof named === 'object' ? keys(named, `${at}.NAME`) : []),
    ]
  })
}

const all = keys(configJsonSchema())

test('the committed schema is what the code generates', async () => {
  const committed = await Bun.file(join(root, 'config.schema.json')).text()
  expect(committed).toBe(`${JSON.stringify(configJsonSchema(), null, 2)}\n`)
  expect(configJsonSchema().$schema).toBe('https://json-schema.org/draft/2020-12/schema')
})

test('the committed defaults are what the schema makes of a file that says nothing', async () => {
  const committed = await Bun.file(join(import.meta.dir, 'defaults.json')).text()
  expect(committed).toBe(`${JSON.stringify(defaultSettings(), null, 2)}\n`)
})

test('every key is described and no section takes unknown keys', () => {
  expect(all.length).toBeGreaterThan(80)
  for (const { path, node } of all) {
    expect(`${path}: ${node.description ?? ''}`).toMatch(/: .+\.$/)
    if (node.properties !== undefined) expect(node.additionalProperties).toBe(false)
  }
})

test('every key is documented with its default and meaning', async () => {
  const text = await Bun.file(join(root, 'docs/configuration.md')).text()
  const rows = new Map(
    text
      .split('\n')
      .map((line) => line.match(/^\| `([^`]+)` \| (.+?) \| (.+?) \| (.+) \|$/))
      .flatMap((row) => (row === null ? [] : [[row[1] ?? '', row] as const])),
  )
  for (const { path, node } of all) {
    const [, , , byDefault, meaning] = rows.get(path) ?? []
    expect(`${path}: ${meaning}`).toBe(`${path}: ${node.description}`)
    if (node.default !== undefined) {
      expect(`${path} ${byDefault}`).toBe(`${path} \`${JSON.stringify(node.default)}\``)
    }
  }
})

test('the example of the documentation is the shipped one', async () => {
  const text = await Bun.file(join(root, 'docs/configuration.md')).text()
  const example = await Bun.file(join(root, 'examples/tollgate.yaml')).text()
  expect(text).toContain(`\`\`\`yaml\n${example.trim()}\n\`\`\``)
})

test('a reference may stand wherever the plain form would be refused', () => {
  for (const path of ['server.port', 'logLevel', 'keys[].secret', 'accounts.NAME.credit']) {
    const node = all.find((key) => key.path === path)?.node
    const patterns = node?.anyOf?.map(({ pattern }) => pattern)
    expect(patterns).toContain('\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}')
  }
})
