// Encodes names that clients choose (models, voices, deployments) for a vendor's URL, so that its path stays as it is.

import { invalidRequest } from '../errors.ts'

/** Characters that a server on the way may read as a path separator, encoded or not. */
const border = /[/\\]|%2f|%5c/i
const upwards = /^(\.|%2e){1,2}$/i
const control = /\p{Cc}/u

/** `name` as one path segment. Throws GatewayError naming `param` for a name that cannot be one. */
export function pathSegment(name: string, param = 'model'): string {
  const steps = name.split(border)
  if (
    name === '' ||
    control.test(name) ||
    !name.isWellFormed() ||
    steps.some((step) => upwards.test(step))
  )
    throw invalidRequest(`${param} cannot be part of a URL.`, param)
  return encodeURIComponent(name)
}

/** The same for names in which `/` separates segments (`fal-ai/flux/dev`), none of them empty. */
export function pathSegments(name: string): string {
  return name
    .split('/')
    .map((segment) => pathSegment(segment))
    .join('/')
}

/** `name` as a query value. Throws GatewayError naming `param` for what cannot be encoded. */
export function queryValue(name: string, param = 'model'): string {
  if (!name.isWellFormed() || control.test(name))
    throw invalidRequest(`${param} cannot be part of a URL.`, param)
  return encodeURIComponent(name)
}
