// Makes a release from the section "Unreleased" of CHANGELOG.md: `node scripts/release.mjs VERSION [--dry-run] [--no-packages]`.
// It writes the version, commits, tags, and puts notes, packages and their list of components below tmp/release; it
// publishes nothing. With --dry-run it only prints what it would do.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { orExit, root } from './setup.mjs'

const unreleased = '## Unreleased\n'

function release() {
  const { values, positionals } = parseArgs({
    options: { 'dry-run': { type: 'boolean' }, 'no-packages': { type: 'boolean' } },
    allowPositionals: true,
  })
  const [version = ''] = positionals
  const changelog = read('CHANGELOG.md')
  const notes = notesOf(changelog)
  checkVersion(version)
  const files = { 'CHANGELOG.md': dated(changelog, version), ...versioned(version) }
  if (values['dry-run']) {
    const kept = Object.entries(files).filter(([name, text]) => text !== read(name))
    console.log(`would change ${kept.map(([name]) => name).join(', ')}; tag v${version}; notes:\n`)
    console.log(notes)
    return
  }
  if (git('status', '--porcelain') !== '') throw new Error('commit or remove what is changed first')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  git('add', ...Object.keys(files))
  git('commit', '--quiet', '--message', `Release ${version}`)
  git('tag', '--annotate', `v${version}`, '--message', `Tollgate ${version}`)
  makeFiles(join(root, 'tmp/release', version), notes, values['no-packages'] !== true)
  console.log(`v${version} is committed and tagged; push it with: git push --follow-tags`)
}

function notesOf(changelog) {
  const [, after] = changelog.split(unreleased)
  const notes = after?.split(/^## /m)[0].trim()
  if (!notes) throw new Error('CHANGELOG.md has nothing under "## Unreleased"')
  return notes
}

function dated(changelog, version) {
  const today = new Date().toISOString().slice(0, 10)
  return changelog.replace(unreleased, `${unreleased}\n## ${version} (${today})\n`)
}

function checkVersion(version) {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('name a version such as 1.2.3')
  const { version: present } = JSON.parse(read('package.json'))
  const isTagged = git('tag', '--list', `v${version}`) !== ''
  const isOlder = version.localeCompare(present, 'en', { numeric: true }) < 0
  if (isTagged || isOlder) throw new Error(`${version} is no version after ${present}`)
}

/** The files that contain the version, with the new version in them. */
function versioned(version) {
  const manifest = { ...JSON.parse(read('package.json')), version }
  const lockfile = { ...JSON.parse(read('package-lock.json')), version }
  lockfile.packages[''].version = version
  return {
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
    'package-lock.json': `${JSON.stringify(lockfile, null, 2)}\n`,
    'deploy/helm/Chart.yaml': read('deploy/helm/Chart.yaml').replace(
      /^(version|appVersion): .*$/gm,
      `$1: ${version}`,
    ),
  }
}

function makeFiles(folder, notes, hasPackages) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'notes.md'), `${notes}\n`)
  writeFileSync(join(folder, 'components.cdx.json'), run('node', ['scripts/sbom.mjs']))
  if (!hasPackages) return
  run('node', ['scripts/package.mjs', 'npm', folder])
  run('node', [
    'scripts/package.mjs',
    'binary',
    join(folder, `tollgate-${process.platform}-${process.arch}`),
  ])
}

function read(name) {
  return readFileSync(join(root, name), 'utf8')
}

function git(...args) {
  return run('git', args).trim()
}

function run(command, args) {
  const options = { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 2], maxBuffer: 2 ** 26 }
  const { status, stdout, error } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args[0]} failed: ${error?.message ?? status}`)
  return stdout
}

orExit(release)
