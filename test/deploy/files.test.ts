// Tests the files in deploy/: read by their own tools if these are installed, else checked for what they promise.

import { afterAll, describe, expect, test } from 'bun:test'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Ajv from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { startGateway } from '../support/gateway.ts'

const root = join(import.meta.dir, '../..')
const deploy = join(root, 'deploy')
const scratch = mkdtempSync(join(tmpdir(), 'tollgate-deploy-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const read = (name: string) => readFileSync(join(deploy, name), 'utf8')
const readYaml = (name: string) => parse(read(name)) as ReturnType<typeof JSON.parse>
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** null if this machine has no such tool, which is printed. */
function tool(name: string): string | null {
  const found = Bun.which(name)
  if (found === null) console.log(`left out: ${name} is not installed`)
  return found
}

function run(words: readonly string[], env: Record<string, string> = {}) {
  const ended = Bun.spawnSync([...words], { env: { PATH: process.env['PATH'] ?? '', ...env } })
  return { code: ended.exitCode, text: `${ended.stdout}${ended.stderr}` }
}

describe('the image', () => {
  const lines = read('Dockerfile').replaceAll('\\\n', ' ').split('\n')
  const served = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
  const of = (word: string) => served.filter((line) => line.startsWith(`${word} `))

  test('serves as a user that is not root, gets its signals, and says its health without curl', () => {
    expect(of('USER')).toEqual(['USER 10001:10001'])
    const [entry = ''] = of('ENTRYPOINT')
    // In exec form: a shell in between would not pass on the signals.
    expect(JSON.parse(entry.slice('ENTRYPOINT '.length))).toEqual(['/app/bin/tollgate'])
    expect(of('HEALTHCHECK').join()).toContain('/healthz')
    expect(served.join('\n')).not.toMatch(/curl|wget/)
    for (const label of ['title', 'description', 'licenses', 'version', 'revision']) {
      expect(of('LABEL').join()).toContain(`org.opencontainers.image.${label}=`)
    }
  })

  test('is built from what exists, and only what was built is taken over', () => {
    expect(of('COPY')).toEqual(['COPY --from=build /app /app'])
    const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    expect(ignored.find((line) => line !== '' && !line.startsWith('#'))).toBe('*')
    for (const name of ['bin', 'src', 'scripts', 'console', 'package.json', 'package-lock.json']) {
      expect(ignored).toContain(`!${name}`)
      expect(statSync(join(root, name)).size).toBeGreaterThan(0)
    }
  })
})

describe('compose', () => {
  const { services, volumes } = readYaml('compose/compose.yaml')
  const overlay = readYaml('compose/observe.yaml')

  test('starts each service when what it needs is healthy', () => {
    for (const name of ['postgres', 'valkey']) {
      expect(services[name].healthcheck.test[0]).toBe('CMD')
      expect(services.tollgate.depends_on[name]).toEqual({ condition: 'service_healthy' })
    }
    expect(services.tollgate).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    // Only this machine can reach it unless configured otherwise.
    expect(services.tollgate.ports).toEqual([expect.stringContaining('127.0.0.1:8787')])
  })

  test('every file and volume that is mounted is there', () => {
    const all = [...Object.values(services), ...Object.values(overlay.services)]
    const named = new Set([...Object.keys(volumes), ...Object.keys(overlay.volumes)])
    const mounts = all.flatMap((each) => (each as { volumes?: string[] }).volumes ?? [])
    expect(mounts.length).toBeGreaterThan(8)
    for (const [source = ''] of mounts.map((mount) => mount.split(':'))) {
      if (source.startsWith('.')) statSync(join(deploy, 'compose', source))
      else expect([...named]).toContain(source)
    }
  })

  test('secrets are made once, kept, and read by their owner alone', () => {
    const owner = String(process.getuid?.())
    const make = () => {
      const env = { OWNER: owner, GRAFANA_OWNER: owner }
      expect(run(['sh', join(deploy, 'compose/secrets.sh'), scratch], env)).toEqual({
        code: 0,
        text: '',
      })
      return readdirSync(scratch).map((name) => {
        const path = join(scratch, name)
        return [name, readFileSync(path, 'utf8'), statSync(path).mode & 0o777] as const
      })
    }
    const first = make()
    expect(make()).toEqual(first)
    expect(first.map(([name]) => name).sort()).toEqual([
      'grafana-password',
      'postgres-password',
      'tollgate.env',
    ])
    expect(first.map(([, , mode]) => mode)).toEqual([0o600, 0o600, 0o600])
    const env = first.find(([name]) => name === 'tollgate.env')?.[1] ?? ''
    expect(env).toMatch(
      /^DATABASE_URL=postgres:\/\/tollgate:[0-9a-f]{64}@postgres:5432\/tollgate$/m,
    )
    expect(env).toMatch(/^ENCRYPTION_KEY=[0-9a-f]{64}$/m)
  })
})

describe('the chart', () => {
  const values = readYaml('helm/values.yaml')
  const validate = new Ajv().compile(JSON.parse(read('helm/values.schema.json')))

  test('is of this version, and its values keep to their schema', () => {
    expect(readYaml('helm/Chart.yaml')).toMatchObject({ version, appVersion: version })
    const valid = { ...values, existingSecret: 'tollgate' }
    expect([validate(valid), validate.errors]).toEqual([true, null])
    for (const wrong of [values, { ...valid, replicas: 3 }, { ...valid, publicUrl: 'example' }]) {
      expect(validate(wrong)).toBe(false)
    }
  })

  test('every value that a template reads is declared', () => {
    const folder = join(deploy, 'helm/templates')
    const text = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n')
    const used = [...text.matchAll(/\.Values\.(\w+)/g)].map((found) => found[1] ?? '')
    expect(new Set(used)).toEqual(new Set(Object.keys(values)))
  })

  test('commands in a pod read the configuration of the server', () => {
    const pod = read('helm/templates/statefulset.yaml')
    expect(pod).toContain('{ name: TOLLGATE_CONFIG, value: /config/tollgate.yaml }')
    expect(pod).not.toContain('--config')
  })

  test('helm renders it: the grace is longer than the longest stream, the migration a hook', () => {
    const helm = tool('helm')
    if (helm === null) {
      expect(read('helm/templates/migrate.yaml')).toContain('helm.sh/hook: pre-install,pre-upgrade')
      return
    }
    const set =
      'existingSecret=tollgate,autoscaling.enabled=true,serviceMonitor.enabled=true,ingress.enabled=true,ingress.host=a.example'
    const rendered = run([helm, 'template', 'example', join(deploy, 'helm'), '--set', set])
    expect(rendered.code).toBe(0)
    const items = parseAllDocuments(rendered.text).map((document) => document.toJS())
    const kinds = items.map(({ kind }) => kind)
    for (const kind of [
      ...['ConfigMap', 'HorizontalPodAutoscaler', 'Ingress', 'Job', 'PodDisruptionBudget'],
      ...['Service', 'ServiceAccount', 'ServiceMonitor', 'StatefulSet'],
    ]) {
      expect(kinds).toContain(kind)
    }
    const pod = items.find(({ kind }) => kind === 'StatefulSet').spec.template.spec
    const { lifecycle, readinessProbe, livenessProbe } = pod.containers[0]
    const delay = Number(lifecycle.preStop.exec.command[1])
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(values.longestStreamSeconds + delay)
    expect([readinessProbe.httpGet.path, livenessProbe.httpGet.path]).toEqual([
      '/readyz',
      '/healthz',
    ])
    expect(run([helm, 'template', 'example', join(deploy, 'helm')]).text).toContain(
      'existingSecret',
    )
  })
})

describe('the service of systemd', () => {
  const unit = read('systemd/tollgate.service')

  test('systemd takes it, and finds little that it is exposed to', () => {
    expect(unit).toContain('\nDynamicUser=yes\n')
    expect(unit).toContain('\nStartLimitIntervalSec=0\n')
    const analyze = tool('systemd-analyze')
    if (analyze === null) return
    const file = join(scratch, 'tollgate.service')
    // The program is not installed here.
    writeFileSync(file, unit.replace('/usr/local/bin/tollgate serve', '/bin/true'))
    expect(run([analyze, 'verify', file])).toEqual({ code: 0, text: '' })
    const security = run([analyze, 'security', '--offline=true', file]).text
    const exposure = Number(/Overall exposure level for \S+: ([\d.]+)/.exec(security)?.[1])
    expect(exposure).toBeLessThan(2)
  })
})

test('dashboard and alerts name metrics that a gateway has', async () => {
  const board = JSON.parse(read('grafana/dashboard.json')) as {
    readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[]
  }
  const { groups } = readYaml('prometheus/alerts.yaml')
  const rules = groups[0].rules as readonly { alert: string; expr: string }[]
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  const texts = [...board.panels.flatMap(({ targets }) => targets), ...rules].map(
    ({ expr }) => expr,
  )
  const named = new Set(texts.flatMap((text) => text.match(/\b(?:tollgate|process)_\w+/g) ?? []))
  expect(named.size).toBeGreaterThan(20)

  await using gateway = await startGateway()
  const types = (await gateway.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)
  const there = new Set(
    [...types].map(([, name, type]) => (type === 'histogram' ? `${name}_bucket` : name)),
  )
  expect([...named].filter((name) => !there.has(name))).toEqual([])
})

test('promtool takes the rules, and each is silent and fires where it should', () => {
  const cases = join(root, 'test/deploy/alerts.promtool.yaml')
  const { groups } = readYaml('prometheus/alerts.yaml')
  const tested = new Set(
    parse(readFileSync(cases, 'utf8')).tests.flatMap(
      ({ alert_rule_test: rules }: { readonly alert_rule_test: { alertname: string }[] }) =>
        rules.map(({ alertname }) => alertname),
    ),
  )
  const rules = groups[0].rules as readonly { readonly alert: string }[]
  expect(tested).toEqual(new Set(rules.map(({ alert }) => alert)))
  const promtool = tool('promtool')
  if (promtool === null) return
  expect(
    run([promtool, 'check', 'config', '--syntax-only', join(deploy, 'prometheus/prometheus.yml')])
      .code,
  ).toBe(0)
  // It looks for the rules in the folder of the cases.
  copyFileSync(join(deploy, 'prometheus/alerts.yaml'), join(scratch, 'alerts.yaml'))
  copyFileSync(cases, join(scratch, 'cases.yaml'))
  const { code, text } = run([promtool, 'test', 'rules', join(scratch, 'cases.yaml')])
  expect([code, text]).toEqual([0, expect.stringContaining('SUCCESS')])
})
