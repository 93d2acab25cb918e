// Tests making a release in a clone: first a dry run, which changes nothing, then a real one, without its packages.

import { afterAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'yaml'

const root = join(import.meta.dir, '../..')
const clone = mkdtempSync(join(tmpdir(), 'tollgate-release-'))
afterAll(() => rmSync(clone, { recursive: true, force: true }))

function run(...words: string[]) {
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...{ GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.com' },
    ...{ GIT_COMMITTER_NAME: 'A', GIT_COMMITTER_EMAIL: 'a@example.com' },
  }
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { cwd: clone, env })
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() }
}
const release = (...words: string[]) => run('node', 'scripts/release.mjs', ...words)
const read = (name: string) => readFileSync(join(clone, name), 'utf8')

test('a release has its version everywhere, its notes from the changelog, and a tag', () => {
  for (const name of [
    ...['CHANGELOG.md', 'package.json', 'package-lock.json', 'console/package-lock.json'],
    ...['deploy/helm/Chart.yaml', 'scripts', '.gitignore'],
  ]) {
    cpSync(join(root, name), join(clone, name), { recursive: true })
  }
  for (const words of [
    ['init', '-q'],
    ['add', '.'],
    ['commit', '-qm', 'Begin'],
  ]) {
    expect(run('git', ...words)).toEqual({ code: 0, out: '', err: '' })
  }
  const [, after = ''] = read('CHANGELOG.md').split('## Unreleased\n')
  const notes = after.split(/^## /m)[0]?.trim() ?? ''

  const dry = release('9.8.7', '--dry-run')
  expect(dry.out).toContain(notes)
  expect(dry.out).toContain('package.json, package-lock.json, deploy/helm/Chart.yaml; tag v9.8.7')
  expect(run('git', 'status', '--porcelain').out + run('git', 'tag').out).toBe('')
  for (const wrong of ['', '1', '0.0.1']) expect(release(wrong).code).toBe(1)

  expect(release('9.8.7', '--no-packages')).toMatchObject({ code: 0, err: '' })
  expect(run('git', 'tag').out).toBe('v9.8.7\n')
  expect(run('git', 'status', '--porcelain').out).toBe('')
  const lockfile = JSON.parse(read('package-lock.json'))
  const chart = parse(read('deploy/helm/Chart.yaml'))
  expect([
    JSON.parse(read('package.json')).version,
    ...[lockfile.version, lockfile.packages[''].version],
    ...[chart.version, chart.appVersion],
  ]).toEqual(['9.8.7', '9.8.7', '9.8.7', '9.8.7', '9.8.7'])
  expect(read('CHANGELOG.md')).toMatch(/## Unreleased\n\n## 9\.8\.7 \(\d{4}-\d\d-\d\d\)\n/)
  expect(read('tmp/release/9.8.7/notes.md').trim()).toBe(notes)
  expect(JSON.parse(read('tmp/release/9.8.7/components.cdx.json')).bomFormat).toBe('CycloneDX')

  // Nothing has changed since, so there is nothing to release.
  expect(release('9.8.8')).toMatchObject({ code: 1, err: expect.stringContaining('nothing under') })
})
