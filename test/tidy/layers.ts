// Rules on which files may import, name or open what: the layers of ARCHITECTURE.md.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import type { Source } from './source.ts'

/** Lowest first. A room is a folder of src/ or a file directly in it. */
const levels: readonly (readonly string[])[] = [
  ['installation'],
  ['errors', 'money', 'config', 'telemetry', 'paysim'],
  ['wire', 'catalog', 'store'],
  ['router', 'limits', 'meter', 'ledger', 'payments', 'identity', 'history', 'vendors'],
  ['upstream'],
  ['safe-fetch'],
  ['blobs'],
  ['billing'],
  ['relay'],
  ['operations'],
  ['admin'],
  ['http'],
  ['main', 'cli'],
  ['program'],
]

/** The lowest layer may still use the common error. */
const withinLevel: ReadonlySet<string> = new Set(['config > errors', 'telemetry > errors'])

const upstream = /^src\/upstream\//
/** Bun's own client of stores that speak S3. */
const bucket = /^src\/blobs\/hosting-s3\.ts$/
const namesBun: readonly RegExp[] = [
  /^src\/http\/(server|runtime-routes|direct\/(listener|connection|tunnel))\.ts$/,
  upstream,
  /^src\/store\/sqlite[-.\w]*\.ts$/,
  /^src\/limits\/valkey-link\.ts$/,
  bucket,
  /^src\/main\.ts$/,
  /^src\/cli\/main\.ts$/,
]
/** To the runtime's server of the same process. */
const tunnel = /^src\/http\/direct\/tunnel\.ts$/
const opensConnections: readonly RegExp[] = [
  upstream,
  tunnel,
  bucket,
  /^src\/limits\/valkey-link\.ts$/,
  /^src\/store\/postgres[-.\w]*\.ts$/,
]
const readsEnvironment: readonly RegExp[] = [
  /^src\/config(\.ts|\/.+)$/,
  /^src\/main(\.ts|\/.+)$/,
  /^src\/cli\/.+$/,
]

const connecting = /^(node:)?(net|tls|http|https|http2|dgram)$/
/** The exports of those modules that only work on values. */
const harmless = new Set(['isIP', 'isIPv4', 'isIPv6', 'BlockList', 'SocketAddress', 'STATUS_CODES'])
const databases = /^(bun:sqlite|node:sqlite|pg|kysely)(\/|$)/
const builtins = new Set(builtinModules)

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || !path.startsWith('src/')
}

/** The room that a file of src/ belongs to; undefined outside src/. */
export function roomOf(path: string): string | undefined {
  const [top, first] = path.split('/')
  return top === 'src' ? first?.replace(/\.\w.*$/, '') : undefined
}

function levelOf(room: string): number {
  return levels.findIndex((rooms) => rooms.includes(room))
}

function targetOf(source: Source, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return posix.join(posix.dirname(source.path), specifier)
}

export function unknownRooms(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path }) => {
    const room = roomOf(path)
    return room === undefined || levelOf(room) >= 0 ? [] : [`${path}: unknown room ${room}`]
  })
}

/** Imports go to lower layers; rooms on one level do not import each other; only tests import from outside src/. */
export function importsPointDown(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const from = roomOf(source.path)
    if (from === undefined) return []
    return source.imports.flatMap(({ specifier, line }) => {
      const target = targetOf(source, specifier)
      if (target === undefined) {
        // The simulator checks the libraries, so it uses none.
        const allowed = from !== 'paysim' || isTest(source.path) || specifier.startsWith('node:')
        return allowed ? [] : [`${source.path}:${line}: paysim may not import ${specifier}`]
      }
      const to = roomOf(target)
      const allowed = to === undefined ? isTest(source.path) : mayImport(from, to)
      return allowed ? [] : [`${source.path}:${line}: ${from} may not import ${to ?? target}`]
    })
  })
}

function mayImport(from: string, to: string): boolean {
  // A part of the product that used the simulator's code could share its errors.
  if (to === 'paysim' && from !== 'main') return from === to
  return from === to || levelOf(from) > levelOf(to) || withinLevel.has(`${from} > ${to}`)
}

/** Imports of types count too: two files that need each other's types depend on each other. */
export function importCycles(sources: readonly Source[]): string[] {
  const edges = new Map(
    sources.map((source) => [
      source.path,
      source.imports.flatMap(({ specifier }) => targetOf(source, specifier) ?? []),
    ]),
  )
  const finished = new Set<string>()
  const problems: string[] = []
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) problems.push(`import cycle: ${[...trail.slice(start), path].join(' > ')}`)
    if (start >= 0 || finished.has(path)) return
    for (const next of edges.get(path) ?? []) walk(next, [...trail, path])
    finished.add(path)
  }
  for (const path of edges.keys()) walk(path, [])
  return problems
}

/** wire/ runs anywhere: it uses no module and no global of a runtime. */
export function wireIsPure(sources: readonly Source[]): string[] {
  const runtime = new Set(['Bun', 'process', 'Buffer', 'require', 'setImmediate', '__dirname'])
  return sources
    .filter(({ path }) => roomOf(path) === 'wire' && !isTest(path))
    .flatMap(({ path, imports, references }) => [
      ...imports
        .filter(({ specifier }) => /^(node|bun)(:|$)/.test(specifier) || builtins.has(specifier))
        .map(({ specifier, line }) => `${path}:${line}: wire/ imports ${specifier}`),
      ...references
        .filter(({ name, own }) => runtime.has(name) && !own)
        .map(({ name, line }) => `${path}:${line}: wire/ names ${name}`),
    ])
}

export function bunStaysInItsFiles(sources: readonly Source[]): string[] {
  return outside(sources, namesBun).flatMap(({ path, imports, references }) => [
    ...imports
      .filter(({ specifier }) => /^bun(:|$)/.test(specifier))
      .map(({ specifier, line }) => `${path}:${line}: imports ${specifier}`),
    ...references
      .filter(({ name, own }) => name === 'Bun' && !own)
      .map(({ line }) => `${path}:${line}: names Bun`),
  ])
}

export function onlyDialConnects(sources: readonly Source[]): string[] {
  const globals = new Set(['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'])
  const members = new Set([
    'connect',
    'fetch',
    'udpSocket',
    'RedisClient',
    'redis',
    'S3Client',
    's3',
    'SQL',
    'sql',
  ])
  return outside(sources, opensConnections).flatMap(({ path, imports, references }) => [
    ...imports
      .filter(({ specifier, names, typeOnly }) => {
        if (!connecting.test(specifier) || typeOnly) return false
        return names.length === 0 || names.some((name) => !harmless.has(name))
      })
      .map(({ specifier, line }) => `${path}:${line}: imports ${specifier}`),
    ...references
      .filter(({ name, member, own }) => {
        return !own && (globals.has(name) || (name === 'Bun' && members.has(member)))
      })
      .map(({ name, line }) => `${path}:${line}: ${name} opens a connection`),
  ])
}

export function onlyStoreHasSql(sources: readonly Source[]): string[] {
  const statement =
    /^\s*(select\s[\s\S]*\sfrom\s|insert\s+(or\s+\w+\s+)?into\s|update\s+\S+\s+set\s|delete\s+from\s|(create|alter|drop)\s+(unique\s+)?(table|index)\s|pragma\s)/i
  return sources
    .filter(({ path }) => !isTest(path) && roomOf(path) !== 'store')
    .flatMap(({ path, imports, strings }) => [
      ...imports
        .filter(({ specifier }) => databases.test(specifier))
        .map(({ specifier, line }) => `${path}:${line}: imports ${specifier}`),
      ...strings
        .filter(({ text }) => statement.test(text))
        .map(({ line }) => `${path}:${line}: has SQL`),
    ])
}

export function environmentIsConfig(sources: readonly Source[]): string[] {
  return outside(sources, readsEnvironment).flatMap(({ path, imports, references, text }) => [
    ...imports
      .filter(
        ({ specifier, names }) => /^(node:)?process$/.test(specifier) && names.includes('env'),
      )
      .map(({ line }) => `${path}:${line}: imports the environment`),
    ...references
      .filter(({ name, member, own }) => {
        // A bare `process` could be destructured anywhere afterwards.
        if (name === 'process') return member === 'env' || (member === '' && !own)
        return name === 'Bun' && member === 'env'
      })
      .map(({ line }) => `${path}:${line}: reads the environment`),
    ...(/\bimport\.meta\.env\b/.test(text) ? [`${path}: reads the environment`] : []),
  ])
}

function outside(sources: readonly Source[], allowed: readonly RegExp[]): Source[] {
  return sources.filter(({ path }) => !isTest(path) && !allowed.some((one) => one.test(path)))
}
