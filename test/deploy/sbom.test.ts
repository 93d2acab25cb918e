// Tests the list of a package's components: complete, without duplicates, and with the installed versions.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const read = (name: string) => JSON.parse(readFileSync(join(root, name), 'utf8'))

test('the list of components has every dependency that is served, with its hash', () => {
  const { stdout, stderr } = Bun.spawnSync(['node', join(root, 'scripts/sbom.mjs')])
  expect(stderr.toString()).toBe('')
  const { bomFormat, specVersion, metadata, components } = JSON.parse(stdout.toString())
  const own = read('package.json')
  expect([bomFormat, specVersion, metadata.component.version]).toEqual([
    'CycloneDX',
    '1.6',
    own.version,
  ])
  const all = components as {
    readonly purl: string
    readonly hashes: readonly { readonly alg: string; readonly content: string }[]
  }[]
  const urls = new Set(all.map(({ purl }) => purl))
  expect(urls.size).toBe(all.length)
  const served = [own, read('console/package.json')].flatMap(({ dependencies }) =>
    Object.entries(dependencies as Record<string, string>),
  )
  for (const [name, version] of served) {
    expect(urls).toContain(`pkg:npm/${name.replace('@', '%40')}@${version}`)
  }
  expect(urls).not.toContain(`pkg:npm/typescript@${own.devDependencies.typescript}`)
  const hashed = all.filter(({ hashes }) => hashes.length > 0)
  expect(hashed.length).toBeGreaterThan(all.length * 0.9)
  for (const { hashes } of hashed) {
    expect(hashes.every(({ alg, content }) => content.length * 4 === Number(alg.slice(4)))).toBe(
      true,
    )
  }
})
