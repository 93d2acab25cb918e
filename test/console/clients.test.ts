// Tests the settings that people copy into their clients: complete, with the address in the form that each client
// needs.

import { describe, expect, test } from 'bun:test'
import { clients } from '../../console/src/clients/clients.ts'

const base = 'https://gateway.example'
const key = 'sk-tg-0123456789abcdefghijklmnopqrstuvABCDEF'
const model = 'vendor/model-1'

function textOf(id: string, setup = { base, key, model }): string {
  const client = clients.find((each) => each.id === id)
  return (
    client
      ?.steps(setup)
      .map(({ text }) => text)
      .join('\n') ?? ''
  )
}

/** These clients add the version to the address themselves. */
const withoutVersion = ['claude-code', 'gemini-cli']

describe('setup of a client', () => {
  test('there are fifteen and more, each under an id of its own', () => {
    expect(clients.length).toBeGreaterThanOrEqual(15)
    expect(new Set(clients.map(({ id }) => id)).size).toBe(clients.length)
    expect(clients.every(({ id }) => /^[a-z0-9-]+$/.test(id))).toBe(true)
  })

  for (const { id, steps } of clients) {
    test(`${id} has the key and the address in the form it wants`, () => {
      const text = textOf(id)
      expect(text).toContain(key)
      const ends = [...text.matchAll(/https:\/\/gateway\.example([^\s"']*)/g)].map(([, end]) => end)
      const path = { curl: '/v1/chat/completions', 'openai-go': '/v1/' }[id] ?? '/v1'
      expect(new Set(ends)).toEqual(new Set([withoutVersion.includes(id) ? '' : path]))
      expect(text).toContain(model)
      expect(steps({ base, key, model }).every((step) => step.text.trim() === step.text)).toBe(true)
    })
  }

  test('what is JSON, TOML or YAML can be read, whatever the key is made of', () => {
    const odd = { base, key: `it's "odd" \\ $HOME`, model }
    expect(JSON.parse(textOf('opencode', odd))).toMatchObject({
      provider: { tollgate: { options: { apiKey: odd.key, baseURL: `${base}/v1` } } },
    })
    expect(Bun.YAML.parse(textOf('librechat', odd))).toMatchObject({
      endpoints: { custom: [{ apiKey: odd.key, baseURL: `${base}/v1` }] },
    })
    expect(Bun.YAML.parse(textOf('continue', odd))).toMatchObject({
      models: [{ apiKey: odd.key, apiBase: `${base}/v1`, model }],
    })
    const [file] = clients.find(({ id }) => id === 'codex')?.steps(odd) ?? []
    expect(Bun.TOML.parse(file?.text ?? '')).toMatchObject({
      model,
      model_providers: { tollgate: { base_url: `${base}/v1`, wire_api: 'responses' } },
    })
  })

  test('a shell reads each variable and argument as it was meant', async () => {
    const odd = { base, key: `it's "odd" \\ $HOME`, model }
    const script = `claude() { printf '%s|' "$ANTHROPIC_AUTH_TOKEN" "$ANTHROPIC_BASE_URL" "$@"; }\n${textOf('claude-code', odd)}`
    const ran = Bun.spawnSync(['sh', '-c', script])
    expect(ran.stdout.toString()).toBe(`${odd.key}|${base}|--model|${model}|`)
  })
})
