// Names that clients choose (models, voices, deployments) as parts of a vendor's address, out of which they cannot lead.

import { invalidRequest } from '../errors.ts'

/** What some server on the way may read as the border of two segments, encoded or not. */
const border = /[/\\]|%2f|%5c/i
const upwards = /^(\.|%2e){1,2}$/i
const control = /\p{Cc}/u

/** `name` as one segment of a path. Throws GatewayError naming `param` for what no name in an address can be. */
export function pathSegment(name: string, param = 'model'): string {
  const steps = name.split(border)
  if (
    name === '' ||
    control.test(name) ||
    !name.isWellFormed() ||
    steps.some((step) => upwards.test(step))
  )
    throw invalidRequest(`${param} is not a name that can stand in an address.`, param)
  return encodeURIComponent(name)
}

/** The same for names in which `/` divides segments (`fal-ai/flux/dev`), none of them empty. */
export function pathSegments(name: string, param = 'model'): string {
  return name
    .split('/')
    .map((segment) => pathSegment(segment, param))
    .join('/')
}

/** `name` as a value in a query. Throws as `pathSegment` does for what cannot be encoded. */
export function queryValue(name: string, param = 'model'): string {
  if (!name.isWellFormed() || control.test(name))
    throw invalidRequest(`${param} is not a name that can stand in an address.`, param)
  return encodeURIComponent(name)
}
