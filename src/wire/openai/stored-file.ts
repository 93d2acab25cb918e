// Checks ids of files that are stored with a vendor.

import { invalidRequest } from '../../errors.ts'

/**
 * The id as OpenAI's formats take it. Throws GatewayError for one of Anthropic's, which begin with `file_`, where
 * OpenAI's begin with `file-`. Source: "Files" of both vendors' API references.
 */
export function storedFile(id: string, place: string): string {
  if (!id.startsWith('file_')) return id
  throw invalidRequest(
    `${place}: this model's vendor takes no files stored at another vendor`,
    place,
  )
}
