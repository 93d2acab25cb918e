// A gateway in front of a vendor of every format that accepts only what it documents, and whose model calls what a test
// says.

import { expect } from 'bun:test'
import { type Body, complaintOf, offeredIn } from '../agents/offered.ts'
import { type Format, formats } from '../agents/vendor.ts'
import type { SaidCall } from '../conformance/said.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'

/** Every format, and one vendor of OpenAI's format that supports only functions. */
export const rows = [
  ...formats
    .filter(({ id }) => id !== 'openai-responses')
    .map(({ id, vendor }) => ({ id, vendor })),
  { id: 'openai-responses', vendor: 'xai' },
]
const vendorModels: Readonly<Record<string, string>> = {
  'anthropic-messages': 'claude-sonnet-4-5',
  gemini: 'gemini-3-flash',
  'cohere-v2': 'command-a',
  'bedrock-converse': 'anthropic.claude-sonnet-4-5',
}

export const user = { role: 'user', content: 'Do it.' }

interface Asked {
  readonly format: Format
  readonly body: Body
  readonly text: string
}

export interface StageReply {
  readonly status: number
  readonly dropped: string | null
  readonly reply: Body
}

export class ToolStage {
  /** The last request that the vendor got. */
  asked: Asked | null = null
  /** The call that its model makes of the names it is offered. */
  calls: (names: readonly string[]) => Omit<SaidCall, 'id'> | null = () => null
  /** The text that its model says if it calls nothing. */
  text = 'Done.'
  readonly gateway: Gateway
  private readonly upstream: Bun.Server<undefined>

  private constructor(upstream: Bun.Server<undefined>, gateway: Gateway) {
    this.upstream = upstream
    this.gateway = gateway
  }

  static async begin(): Promise<ToolStage> {
    let stage: ToolStage | null = null
    const upstream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const path = decodeURIComponent(new URL(request.url).pathname)
        const text = await request.text()
        return stage?.vendorSays(path, text) ?? new Response('not yet', { status: 500 })
      },
    })
    const channels = rows.map(({ id, vendor }) => ({
      id: `${vendor}-channel`,
      vendor,
      dialect: id,
      baseUrl: `http://127.0.0.1:${upstream.port}/${vendor}`,
      key: 'vendor-key',
      options: vendor === 'bedrock' ? { region: 'us-east-1' } : {},
      models: { [`on-${vendor}`]: vendorModels[id] ?? 'some-model' },
    }))
    stage = new ToolStage(upstream, await startGateway({ config: { channels } }))
    return stage
  }

  async end(): Promise<void> {
    await this.gateway.stop()
    await this.upstream.stop(true)
  }

  /** A Responses request, whole or streamed: of a stream, the response at its end, whose items it sent one by one. */
  async responses(vendor: string, body: Body, stream: boolean): Promise<StageReply> {
    const reply = await this.gateway.post('/v1/responses', {
      model: `on-${vendor}`,
      store: false,
      ...body,
      stream,
    })
    const dropped = reply.headers.get('x-tollgate-dropped')
    const text = await reply.text()
    if (!stream || reply.status !== 200) {
      return { status: reply.status, dropped, reply: JSON.parse(text) as Body }
    }
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as Body,
    )
    const response = events.at(-1)?.['response'] as Body
    const done = events.filter(({ type }) => type === 'response.output_item.done')
    expect(done.map(({ item }) => item)).toEqual(response['output'] as Body[])
    return { status: reply.status, dropped, reply: response }
  }

  private vendorSays(path: string, text: string): Response {
    const format = formats.find((each) => each.path.test(path))
    if (format === undefined) return new Response('not found', { status: 404 })
    const body = JSON.parse(text) as Body
    this.asked = { format, body, text }
    const complaint = complaintOf(
      path.includes('/xai/') ? 'openai-chat' : format.id,
      functionsOf(body, path),
    )
    if (complaint !== null) return Response.json(format.refusal(400, complaint), { status: 400 })
    const call = this.calls(offeredIn(format.id, body).map(({ name }) => name))
    const usage = { input: 20, cached: 0, output: 12, reasoning: 0 }
    const said = { text: call === null ? this.text : '', reasoning: '', usage }
    const listed = call === null ? [] : [{ id: 'call_1', ...call }]
    const reply = format.reply({ ...said, calls: listed }, format.streams(path, body))
    return new Response(reply.body, { headers: { 'content-type': reply.contentType } })
  }
}

/** xAI's functions are flat; a chat's are not, and both are checked alike. */
function functionsOf(body: Body, path: string): Body {
  if (!path.includes('/xai/')) return body
  const tools = ((body['tools'] ?? []) as Body[]).filter(({ type }) => type !== 'web_search')
  return { tools: tools.map((tool) => ({ type: tool['type'], function: tool })) }
}
