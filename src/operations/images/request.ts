// Holds a request for images against what its model is known to make, and fills in what the client left open.

import { type ImageModel, type ImageOperation, imageModel } from '../../catalog/images.ts'
import { invalidRequest } from '../../errors.ts'
import type { Candidate } from '../../router/route.ts'
import type { ClientDialect } from '../../wire/dialect.ts'
import type { ClientDialectId } from '../../wire/formats.ts'
import { outputTokensOf, unitsOf } from '../../wire/openai-images/cost.ts'
import type { FileInfo, Peek, RequestedImages } from '../../wire/request.ts'

const operations: Readonly<Partial<Record<ClientDialectId, ImageOperation>>> = {
  'openai-images': 'generations',
  'openai-image-edits': 'edits',
  'openai-image-variations': 'variations',
}

/** The request with its price's size and quality. Throws GatewayError naming the sizes or qualities there are. */
export function judgedImages(
  peek: Peek,
  dialect: ClientDialect,
  files: readonly FileInfo[] | null,
  candidates: readonly Pick<Candidate, 'model'>[],
): Peek {
  const { picture, model } = peek
  const operation = operations[dialect.id]
  if (picture === undefined || operation === undefined) return peek
  const known = imageModel(model) ?? servedAs(candidates)
  if (known === null) return peek
  if (!known.operations.includes(operation)) {
    const offered = known.operations.map((each) => `/v1/images/${each}`).join(' and ')
    throw invalidRequest(
      `The model '${model}' is not for /v1/images/${operation}; it serves ${offered}.`,
      'model',
    )
  }
  const { takes } = known
  const foreign = files?.find(({ type }) => takes !== undefined && !takes.includes(type))
  if (foreign !== undefined) {
    const { field, type } = foreign
    const names = takes?.map((each) => each.replace('image/', '')).join(', ') ?? ''
    throw invalidRequest(
      `${field} must be ${names} for the model '${model}'; this file is ${type}`,
      field,
    )
  }
  const { size, count } = picture
  const quality = known.nearest?.[picture.quality ?? ''] ?? picture.quality
  if (count > known.mostImages)
    throw invalidRequest(`n must be at most ${known.mostImages} for the model '${model}'.`, 'n')
  if (size !== null && !(size === 'auto' ? known.auto : known.sizes.allows(size)))
    throw invalidRequest(`size must be ${known.sizes.says} for the model '${model}'.`, 'size')
  if (quality !== null && !allowsQuality(known.qualities, known.auto, quality)) {
    const offered = known.qualities?.join(', ') ?? ''
    throw invalidRequest(`quality must be one of ${offered} for the model '${model}'.`, 'quality')
  }
  const usualSize = known.follows && operation === 'edits' ? null : known.usualSize
  return withPicture(peek, {
    ...picture,
    size: size === null || size === 'auto' ? usualSize : size,
    quality: quality === null || quality === 'auto' ? known.usualQuality : quality,
  })
}

/** A name of the operator's own is what its vendors' names all are; null where they differ. */
function servedAs(candidates: readonly Pick<Candidate, 'model'>[]): ImageModel | null {
  const [first = null, ...others] = candidates.map((each) => imageModel(each.model))
  return others.every((each) => each === first) ? first : null
}

function allowsQuality(known: readonly string[] | null, auto: boolean, quality: string): boolean {
  if (quality === 'auto') return auto
  return known === null || known.includes(quality)
}

function withPicture(peek: Peek, picture: RequestedImages): Peek {
  return {
    ...peek,
    picture,
    maxOutputTokens: outputTokensOf(picture),
    units: unitsOf(picture, picture.count),
  }
}
