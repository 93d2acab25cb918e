// Rules on the form of files: lengths, opening comments, leftovers, barrels, disabled tests.
import type { Source, TreeFile } from './source.ts'

const longestFunction = 70
const longestFile = 500
const mostMethods = { interface: 7, class: 20 }

export function functionsAreShort(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, functions }) =>
    functions
      .filter(({ lines }) => lines > longestFunction)
      .map(({ name, line, lines }) => {
        return `${path}:${line}: ${name} has ${lines} lines, more than ${longestFunction}`
      }),
  )
}

/** Only its own: what a shape takes from others by `extends` is checked there. */
export function shapesAreSmall(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, shapes }) =>
    shapes
      .filter(({ kind, methods }) => methods > mostMethods[kind])
      .map(({ kind, name, line, methods }) => {
        return `${path}:${line}: ${kind} ${name} has ${methods} methods, more than ${mostMethods[kind]}`
      }),
  )
}

export function filesAreShort(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => {
    const lines = text.trimEnd().split('\n').length
    return lines > longestFile ? [`${path}: ${lines} lines, more than ${longestFile}`] : []
  })
}

export function filesSayWhatTheyAre(sources: readonly Source[]): string[] {
  return sources
    .filter(({ text }) => !/^(#!.*\n)?(\/\/ \S|\/\*\*?\s+(\* )?\S)/.test(text))
    .map(({ path }) => `${path}:1: opens with no comment on its purpose`)
}

export function nothingIsLeftToDo(sources: readonly Source[]): string[] {
  const leftover =
    /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|expect-error|nocheck)|biome-ignore|eslint-/
  return sources.flatMap(({ path, comments }) =>
    comments.flatMap(({ text, line }) => {
      const found = leftover.exec(text)
      return found ? [`${path}:${line}: ${found[0]}`] : []
    }),
  )
}

/**
 * `skipIf` and `if` are allowed: they depend on what the machine has, and npm test says what it left out. A test that
 * depends on TEST_LONG must use `test/support/long.ts`, since npm run test:long runs the files that import it.
 */
export function everyTestRuns(sources: readonly Source[]): string[] {
  return [...switchedOff(sources), ...leftOutAtLength(sources)]
}

function leftOutAtLength(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap(({ path, strings }) =>
      strings
        .filter(({ text }) => text === 'TEST_LONG')
        .map(({ line }) => `${path}:${line}: asks for TEST_LONG itself`),
    )
}

/** A test waits for an event: a fixed time is too short on a busy host and too long on any other. */
export function nothingSleeps(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap(({ path, references, imports }) => [
      ...references
        .filter(({ name, member, own }) => {
          return !own && (name === 'setTimeout' || (name === 'Bun' && /^sleep/.test(member)))
        })
        .map(({ name, line }) => `${path}:${line}: ${name} waits for time`),
      ...imports
        .filter(({ specifier }) => /^(node:)?timers\/promises$/.test(specifier))
        .map(({ line }) => `${path}:${line}: imports sleep`),
    ])
}

function switchedOff(sources: readonly Source[]): string[] {
  const runners = new Set(['test', 'it', 'describe'])
  const off = new Set(['only', 'skip', 'todo', 'failing'])
  return sources.flatMap(({ path, references }) =>
    references
      .filter(({ name, member }) => {
        return (runners.has(name) && off.has(member)) || /^[xf](test|it|describe)$/.test(name)
      })
      .map(({ name, member, line }) => `${path}:${line}: ${name}${member && `.${member}`}`),
  )
}

export function noBarrels(sources: readonly Source[]): string[] {
  return sources
    .filter(({ isBarrel }) => isBarrel)
    .map(({ path }) => `${path}: only passes on what others export`)
}

/** Paths of a developer's machine and numbers of a tracker mean nothing to a reader. */
export function nothingPointsElsewhere(files: readonly TreeFile[]): string[] {
  const foreign = /(?<![\w.~$}*-])\/(work|root|home\/\w+)\/|\bissues? #\d/gi
  return files.flatMap(({ path, text }) =>
    [...text.matchAll(foreign)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length
      return `${path}:${line}: ${match[0]}`
    }),
  )
}
