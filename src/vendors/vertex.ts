// Vertex AI: Google's models by project and region, signed by a service account's token or an API key.

import { isObject } from '../wire/json/value.ts'
import { amendments } from './amendments.ts'
import { audioDialects } from './compatible.ts'
import { geminiImages, geminiSpeech, geminiTranscripts, methodOf } from './google.ts'
import { pathSegments } from './path-segment.ts'
import type { Authority, Call, ChannelSettings, Vendor } from './vendor.ts'
import { listedBuckets, listedResources } from './vertex-resources.ts'

const usualBase = 'https://aiplatform.googleapis.com'
const scope = 'https://www.googleapis.com/auth/cloud-platform'
const usualTokenUrl = 'https://oauth2.googleapis.com/token'
const tokenSeconds = 3_600

/** The required parts of a service account's key file. */
interface ServiceAccount {
  readonly email: string
  readonly privateKey: string
  readonly keyId: string
  readonly tokenUrl: string
  readonly project: string
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Null where the key is not a service account. Throws where it is malformed; the message contains no part of it. */
function accountOf({ key }: ChannelSettings): ServiceAccount | null {
  if (key === null || !key.trimStart().startsWith('{')) return null
  let file: unknown
  try {
    file = JSON.parse(key)
  } catch {
    throw new Error('the key of vertex begins like a service account, but is not JSON')
  }
  if (!isObject(file as never)) throw new Error('the key of vertex is no service account')
  const { client_email, private_key, private_key_id, token_uri, project_id } = file as Record<
    string,
    unknown
  >
  if (text(client_email) === '' || text(private_key) === '') {
    throw new Error('the key of vertex has no client_email or no private_key')
  }
  return {
    email: text(client_email),
    privateKey: text(private_key),
    keyId: text(private_key_id),
    tokenUrl: text(token_uri) || usualTokenUrl,
    project: text(project_id),
  }
}

/** Requests a token with a signed assertion (Google, "Using OAuth 2.0 for server to server applications"). */
function authorize(settings: ChannelSettings): Authority | null {
  const account = accountOf(settings)
  if (account === null) return null
  const { email, privateKey, keyId, tokenUrl } = account
  return {
    url: tokenUrl,
    async body(nowMs) {
      // Loaded here: forty modules, which only channels with a service account need.
      const { importPKCS8, SignJWT } = await import('jose')
      const issued = Math.floor(nowMs / 1000)
      const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== '' && { kid: keyId }) }
      const assertion = await new SignJWT({ scope })
        .setProtectedHeader(header)
        .setIssuer(email)
        .setAudience(tokenUrl)
        .setIssuedAt(issued)
        .setExpirationTime(issued + tokenSeconds)
        .sign(await importPKCS8(privateKey, 'RS256'))
      const grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
      return new URLSearchParams({ grant_type, assertion }).toString()
    },
  }
}

/** The host of a region: `global` or none is the plain host; `us` and `eu` have hosts of another form. */
function hostOf({ baseUrl, options }: ChannelSettings): string {
  const region = options.region ?? 'global'
  if (baseUrl !== usualBase || region === 'global') return baseUrl
  if (region === 'us' || region === 'eu') return `https://aiplatform.${region}.rep.googleapis.com`
  return `https://${region}-aiplatform.googleapis.com`
}

/** The path contains the project; without one it is that of API keys alone ("express mode"). */
function address(call: Call, settings: ChannelSettings): string {
  const { options } = settings
  const project = options.project ?? accountOf(settings)?.project ?? ''
  const region = options.region ?? 'global'
  const full = /^(publishers|endpoints)\//.test(call.model)
    ? call.model
    : `publishers/google/models/${call.model}`
  const place =
    project === ''
      ? ''
      : `projects/${encodeURIComponent(project)}/locations/${encodeURIComponent(region)}/`
  return `${hostOf(settings)}/v1/${place}${pathSegments(full)}${methodOf(call)}`
}

export const vertex = {
  id: 'vertex',
  ownedBy: 'google',
  baseUrl: usualBase,
  environment: 'GOOGLE_VERTEX_API_KEY',
  speaks: ['gemini', 'openai-images', 'openai-image-edits', ...audioDialects],
  quirks: { usageOnStream: 'always', amend: amendments(listedBuckets, listedResources) },
  address,
  signature: {
    headers(settings) {
      const { key } = settings
      return key === null || accountOf(settings) !== null ? [] : [['x-goog-api-key', key]]
    },
    authorize,
  },
  adapters: {
    'openai-images': geminiImages,
    'openai-image-edits': geminiImages,
    'openai-transcriptions': geminiTranscripts,
    'openai-translations': geminiTranscripts,
    'openai-speech': geminiSpeech,
  },
} satisfies Vendor
