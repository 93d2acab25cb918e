// Tests that npm installs what a start needs with every version of Node that is supported.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

interface Entry {
  readonly os?: readonly string[]
  readonly dev?: boolean
  readonly engines?: { readonly node?: string }
}

const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const oldestNode = String(read('package.json').engines.node).replace('>=', '')

// npm leaves out an optional package whose `engines` do not name its Node, but Bun loads these, whatever the Node: in an
// entry of a lockfile that is faulted here, delete `engines`.
test.each(['package-lock.json', 'console/package-lock.json'])(
  '%s has no package of a platform that old versions of Node are denied',
  (path) => {
    const entries = Object.entries<Entry>(read(path).packages)
    const platforms = entries.filter(([, { os, dev }]) => os !== undefined && dev !== true)
    expect(platforms.length).toBeGreaterThan(0)
    const denied = platforms.filter(
      ([, { engines }]) => !Bun.semver.satisfies(`${oldestNode}.0.0`, engines?.node ?? '*'),
    )
    expect(denied.map(([name, { engines }]) => `${name}: ${engines?.node}`)).toEqual([])
  },
)
