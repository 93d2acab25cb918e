// The ids of all formats, and the operation each one serves.

/** Formats that both clients and vendors may use. */
const common = {
  'openai-chat': 'chat',
  'openai-completions': 'completion',
  'openai-embeddings': 'embedding',
  'openai-responses': 'chat',
  'openai-compaction': 'chat',
  'anthropic-messages': 'chat',
  gemini: 'chat',
  'openai-images': 'image',
  'openai-image-edits': 'image',
  'openai-image-variations': 'image',
  'openai-transcriptions': 'transcription',
  'openai-translations': 'translation',
  'openai-speech': 'speech',
  'openai-moderations': 'moderation',
  'openai-realtime': 'realtime',
  'openai-videos': 'video',
} as const

/** Only clients use these; vendors are asked in other formats. */
const ofClients = { 'google-embed': 'embedding', rerank: 'rerank', score: 'rerank' } as const

/** Only vendors use these; clients are not served in them. */
const ofVendors = {
  'cohere-v2': 'chat',
  'bedrock-converse': 'chat',
  'gemini-embeddings': 'embedding',
  'cohere-embed': 'embedding',
  'voyage-embeddings': 'embedding',
  'cohere-rerank': 'rerank',
  'jina-rerank': 'rerank',
  'voyage-rerank': 'rerank',
} as const

export const operationOf = { ...common, ...ofClients, ...ofVendors }

export type ClientDialectId = keyof typeof common | keyof typeof ofClients
export type VendorDialectId = keyof typeof common | keyof typeof ofVendors
export type DialectId = ClientDialectId | VendorDialectId
export type CommonDialectId = keyof typeof common
export type Operation = (typeof operationOf)[DialectId]

/** The path of each operation in OpenAI's API. */
export const endpointOf: Readonly<Record<Operation, string>> = {
  chat: '/v1/chat/completions',
  completion: '/v1/completions',
  embedding: '/v1/embeddings',
  rerank: '/v1/rerank',
  image: '/v1/images/generations',
  transcription: '/v1/audio/transcriptions',
  translation: '/v1/audio/translations',
  speech: '/v1/audio/speech',
  video: '/v1/videos',
  moderation: '/v1/moderations',
  realtime: '/v1/realtime',
}
