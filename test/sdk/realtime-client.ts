// The official SDK in a realtime session, as a separate process, since trusted certificates are set at the start.
// Prints what it receives.

import OpenAI from 'openai'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'

const [baseURL = '', apiKey = ''] = process.argv.slice(2)

type Session = OpenAIRealtimeWS | OpenAIRealtimeWebSocket

/** One turn: settings, a question, the answer to its end; then a change of model, which is refused. */
async function converse(session: Session) {
  const received: string[] = []
  const errors: string[] = []
  session.on('event', ({ type }) => received.push(type))
  const refused = new Promise<void>((resolve) => {
    session.on('error', (error) => {
      errors.push(`${error.error?.code}: ${error.error?.event_id}`)
      resolve()
    })
  })
  let audioBytes = 0
  session.on('response.output_audio.delta', ({ delta }) => {
    audioBytes += Buffer.from(delta, 'base64').length
  })
  await new Promise<void>((resolve) => session.on('session.created', () => resolve()))
  session.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be kind.' } })
  session.send({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] },
  })
  session.send({ type: 'response.create' })
  const usage = await new Promise((resolve) =>
    session.on('response.done', ({ response }) => resolve(response.usage)),
  )
  session.send({
    type: 'session.update',
    event_id: 'mine',
    session: { type: 'realtime', model: 'gpt-4o-realtime-preview' },
  })
  await refused
  session.close()
  return { received, errors, audioBytes, usage }
}

const client = new OpenAI({ apiKey, baseURL })
const node = await converse(new OpenAIRealtimeWS({ model: 'gpt-realtime' }, client))
const browser = await converse(
  new OpenAIRealtimeWebSocket({ model: 'gpt-realtime', dangerouslyAllowBrowser: true }, client),
)
const gone = new OpenAIRealtimeWS({ model: 'nobody' }, client)
const refusal = await new Promise((resolve) => gone.on('error', ({ message }) => resolve(message)))
process.stdout.write(JSON.stringify({ node, browser, refusal }))
process.exit(0)
