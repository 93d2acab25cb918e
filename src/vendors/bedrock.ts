// Amazon Bedrock: one host per region, the model in the URL, and requests signed one by one or by an API key.

import { sign } from 'aws4'
import { bearer } from './compatible.ts'
import { pathSegment } from './path-segment.ts'
import type { Call, ChannelSettings, SignedRequest, Vendor } from './vendor.ts'

const defaultRegion = 'us-east-1'
const defaultUrl = `https://bedrock-runtime.${defaultRegion}.amazonaws.com`

/** Matches `bedrock-runtime.REGION.amazonaws.com`, also with `-fips`, in other partitions, and `vpce-...` endpoints. */
const regionInHost = /\bbedrock-runtime(?:-fips)?\.([a-z]{2}(?:-[a-z]+)+-\d)\./

interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/**
 * The access key that a channel signs with: `key` as `ACCESS_KEY_ID:SECRET_ACCESS_KEY[:SESSION_TOKEN]`, or the secret
 * alone with `options.accessKeyId` (and `options.sessionToken`). Null for a Bedrock API key, which has no colon.
 */
function credentialsOf({ key, options }: ChannelSettings): Credentials | null {
  const { accessKeyId, sessionToken, secretAccessKey = key } = options
  if (accessKeyId !== undefined && secretAccessKey !== null) {
    return { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
  }
  const [id = '', secret, ...token] = (key ?? '').split(':')
  if (secret === undefined) return null
  return {
    accessKeyId: id,
    secretAccessKey: secret,
    ...(token.length > 0 && { sessionToken: token.join(':') }),
  }
}

function hostOf({ baseUrl, options }: ChannelSettings): string {
  const { region } = options
  if (baseUrl !== defaultUrl || region === undefined) return baseUrl
  // AWS, "Amazon Bedrock endpoints": the partition of China has a domain of its own.
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://bedrock-runtime.${region}.${domain}`
}

/** Model ids have colons and ARNs have slashes: both are percent-encoded. */
function address(call: Call, settings: ChannelSettings): string {
  const action = call.stream ? 'converse-stream' : 'converse'
  return `${hostOf(settings)}/model/${pathSegment(call.model)}/${action}`
}

/** Signature Version 4 of this body at this time (AWS, "Signing AWS API requests"). */
function signature(
  request: SignedRequest,
  settings: ChannelSettings,
  nowMs: number,
): readonly (readonly [string, string])[] {
  const credentials = credentialsOf(settings)
  if (credentials === null) return []
  const url = new URL(request.url)
  const region = settings.options.region ?? regionInHost.exec(url.host)?.[1] ?? defaultRegion
  const { headers } = sign(
    {
      service: 'bedrock',
      region,
      method: request.method,
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        'content-type': 'application/json',
        'X-Amz-Date': new Date(nowMs).toISOString().replace(/[:-]|\.\d{3}/g, ''),
      },
      body: request.body,
      // The dialer adds it after signing.
      extraHeadersToIgnore: { 'content-length': true },
    },
    credentials,
  )
  const signing = /^(authorization|x-amz-.+)$/
  return Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), String(value)] as const)
    .filter(([name]) => signing.test(name))
}

export const bedrock: Vendor = {
  id: 'bedrock',
  ownedBy: 'amazon',
  baseUrl: defaultUrl,
  environment: 'AWS_BEARER_TOKEN_BEDROCK',
  // The variable that AWS's own clients read; its host names the region.
  environmentBaseUrl: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
  speaks: ['bedrock-converse'],
  quirks: { usageOnStream: 'always' },
  address,
  signature: {
    headers: (settings) => (credentialsOf(settings) === null ? bearer(settings) : []),
    sign: signature,
  },
}
