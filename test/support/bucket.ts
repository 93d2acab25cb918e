// A store that speaks as much of S3 as hosting needs, keeps objects in memory, and accepts only signed requests.

import { Buffer } from 'node:buffer'

export interface StoredObject {
  readonly type: string
  readonly bytes: Buffer
}

export interface Bucket extends AsyncDisposable {
  readonly url: string
  readonly name: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly objects: Map<string, StoredObject>
  /** `PUT KEY`, `POST KEY?uploads`, in order. */
  readonly calls: string[]
  /** Every call except a client's fetch is answered with this status from now on; null: normally. */
  failing: number | null
}

const name = 'results'
const accessKeyId = 'AKIDHOSTING'
const secretAccessKey = 'a-secret-that-stays-here-5b1d'
/** So that a list of a few objects has several pages. */
const pageSize = 3

interface Upload {
  readonly type: string
  readonly parts: Map<number, Buffer>
}

/** One of these is in every call (AWS Signature Version 4, by header and by query). */
function isSigned(request: Request, query: URLSearchParams): boolean {
  const header = request.headers.get('authorization') ?? ''
  const byHeader =
    header.startsWith(`AWS4-HMAC-SHA256 Credential=${accessKeyId}/`) &&
    /Signature=[0-9a-f]{64}$/.test(header)
  const byQuery =
    query.get('X-Amz-Credential')?.startsWith(`${accessKeyId}/`) === true &&
    /^[0-9a-f]{64}$/.test(query.get('X-Amz-Signature') ?? '')
  return byHeader || byQuery
}

function xml(text: string): Response {
  return new Response(`<?xml version="1.0" encoding="UTF-8"?>${text}`, {
    headers: { 'content-type': 'application/xml' },
  })
}

function refusal(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>why</Message></Error>`, { status })
}

class StubBucket implements Bucket {
  readonly name = name
  readonly accessKeyId = accessKeyId
  readonly secretAccessKey = secretAccessKey
  readonly objects = new Map<string, StoredObject>()
  readonly calls: string[] = []
  failing: number | null = null
  private readonly uploads = new Map<string, Upload>()
  private readonly server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => this.answer(request),
  })

  get url(): string {
    return `http://127.0.0.1:${this.server.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop(true)
  }

  private async answer(request: Request): Promise<Response> {
    const { pathname, searchParams: query } = new URL(request.url)
    const key = decodeURIComponent(pathname).slice(`/${name}/`.length)
    const operation = ['uploads', 'partNumber', 'uploadId', 'list-type'].find((each) =>
      query.has(each),
    )
    this.calls.push(`${request.method} ${key}${operation === undefined ? '' : `?${operation}`}`)
    if (!isSigned(request, query)) return refusal(403, 'AccessDenied')
    if (request.method === 'GET' && operation === undefined) return this.give(key, query)
    if (this.failing !== null) return refusal(this.failing, 'SlowDown')
    if (operation === 'list-type') return this.list(query)
    if (request.method === 'DELETE') {
      this.objects.delete(key)
      return new Response(null, { status: 204 })
    }
    const type = request.headers.get('content-type') ?? ''
    const bytes = Buffer.from(await request.bytes())
    return this.take(key, query, operation, type, bytes)
  }

  private take(
    key: string,
    query: URLSearchParams,
    operation: string | undefined,
    type: string,
    bytes: Buffer,
  ): Response {
    if (operation === undefined) {
      this.objects.set(key, { type, bytes })
      return new Response(null, { headers: { etag: '"whole"' } })
    }
    const id = query.get('uploadId') ?? `upload-${this.uploads.size + 1}`
    if (operation === 'uploads') {
      this.uploads.set(id, { type, parts: new Map() })
      const upload = `<Key>${key}</Key><UploadId>${id}</UploadId>`
      return xml(`<InitiateMultipartUploadResult>${upload}</InitiateMultipartUploadResult>`)
    }
    const upload = this.uploads.get(id)
    if (upload === undefined) return refusal(404, 'NoSuchUpload')
    if (operation === 'partNumber') {
      upload.parts.set(Number(query.get('partNumber')), bytes)
      return new Response(null, { headers: { etag: `"part-${query.get('partNumber')}"` } })
    }
    const parts = [...upload.parts].sort(([one], [other]) => one - other)
    const whole = Buffer.concat(parts.map(([, part]) => part))
    this.objects.set(key, { type: upload.type, bytes: whole })
    return xml(`<CompleteMultipartUploadResult><Key>${key}</Key></CompleteMultipartUploadResult>`)
  }

  private give(key: string, query: URLSearchParams): Response {
    const object = this.objects.get(key)
    if (object === undefined) return refusal(404, 'NoSuchKey')
    const headers = {
      'content-type': query.get('response-content-type') ?? object.type,
      'content-disposition': query.get('response-content-disposition') ?? '',
    }
    return new Response(new Uint8Array(object.bytes), { headers })
  }

  private list(query: URLSearchParams): Response {
    const [prefix, after] = [query.get('prefix') ?? '', query.get('start-after') ?? '']
    const keys = [...this.objects.keys()].sort().filter((key) => key.startsWith(prefix))
    const rest = keys.filter((key) => key > after)
    const page = rest.slice(0, pageSize).map((key) => `<Contents><Key>${key}</Key></Contents>`)
    const truncated = `<IsTruncated>${rest.length > pageSize}</IsTruncated>`
    return xml(`<ListBucketResult>${truncated}${page.join('')}</ListBucketResult>`)
  }
}

export function startBucket(): Bucket {
  return new StubBucket()
}
