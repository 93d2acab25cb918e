// Prints the components of a package from the lockfiles as CycloneDX 1.6 JSON: those that serve and those of the console.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './setup.mjs'

const lockfiles = ['package-lock.json', 'console/package-lock.json']
const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const { name, version, license } = read('package.json')

/** Of an entry `node_modules/a/node_modules/@b/c`. */
function componentOf(path, entry) {
  const packageName = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${packageName.replace('@', '%40')}@${entry.version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name: packageName,
    version: entry.version,
    purl,
    scope: entry.optional ? 'optional' : 'required',
    hashes: hashesOf(entry.integrity),
    ...(entry.license && { licenses: [{ expression: entry.license }] }),
  }
}

/** Bundled packages have no entry of their own. */
function hashesOf(integrity = '') {
  return integrity.split(' ').flatMap((text) => {
    const [, bits, digest] = /^sha(\d+)-(.+)$/.exec(text) ?? []
    if (digest === undefined) return []
    return [{ alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') }]
  })
}

const components = new Map()
for (const file of lockfiles) {
  for (const [path, entry] of Object.entries(read(file).packages)) {
    if (path === '' || entry.dev || entry.link) continue
    const component = componentOf(path, entry)
    components.set(component.purl, component)
  }
}
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': `pkg:npm/${name}@${version}`,
      name,
      version,
      licenses: [{ expression: license }],
    },
  },
  components: [...components.values()].sort((one, other) => (one.purl < other.purl ? -1 : 1)),
}
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`)
