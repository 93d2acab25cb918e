// Checks a request for images against what its model can make, and fills in defaults.

import { type ImageModel, type ImageOperation, imageModel } from '../../catalog/images.ts'
import { invalidRequest } from '../../errors.ts'
import type { Candidate } from '../../router/route.ts'
import type { ClientDialectId } from '../../wire/formats.ts'
import { outputTokensOf, unitsOf } from '../../wire/openai-images/cost.ts'
import { imageDialects } from '../../wire/openai-images/dialects.ts'
import { addDialects } from '../../wire/registry.ts'
import type { FileInfo, Peek, RequestedImages } from '../../wire/request.ts'
import { imageRelay } from '../adapters/operation.ts'
import type { Operation } from '../operation.ts'
import { resolveModel } from '../resolve.ts'

addDialects(imageDialects)

function imageRequest(dialect: ClientDialectId, operation: ImageOperation): Operation {
  return {
    dialect,
    files: 'pictures',
    upstream: imageRelay,
    resolve(read, services) {
      const resolved = resolveModel(read, services)
      const { files = null } = read.address
      return { ...resolved, peek: sized(resolved.peek, operation, files, resolved.candidates) }
    },
  }
}

export const generations = imageRequest('openai-images', 'generations')
export const edits = imageRequest('openai-image-edits', 'edits')
export const variations = imageRequest('openai-image-variations', 'variations')

/** The request with the size and quality that decide its price. Throws GatewayError that names the ones available. */
function sized(
  peek: Peek,
  operation: ImageOperation,
  files: readonly FileInfo[] | null,
  candidates: readonly Pick<Candidate, 'model'>[],
): Peek {
  const { picture, model } = peek
  if (picture === undefined) return peek
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
  const quality = known.nearest?.get(picture.quality ?? '') ?? picture.quality
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

/** The image model behind an operator's own name, if all its vendors' names agree; null where they differ. */
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
