// The section of the file on images, sound and video.

import { isHttpUrl, withoutTrailingSlash } from './rules.ts'
import {
  bytes,
  checkedText,
  key,
  part,
  secretText,
  section,
  text,
  wholeNumber,
} from './schema-parts.ts'

/** S3's signed addresses are valid for at most seven days (Signature Version 4, query string). */
const hours = wholeNumber(1, 168)

/** The settings of a bucket, wherever one is configured. `use`: descriptions of its address and of its key's rights. */
export const bucketKeys = (use: { readonly endpoint: string; readonly accessKeyId: string }) => ({
  endpoint: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    use.endpoint,
  ),
  bucket: text().meta({ description: 'Name of the bucket.' }),
  region: key(text(), 'Region of the bucket, if the store has regions.'),
  accessKeyId: secretText().meta({ description: use.accessKeyId }),
  secretAccessKey: secretText().meta({ description: 'Secret of the access key.' }),
})

const s3 = section({
  ...bucketKeys({
    endpoint:
      'Address of the store, which must be reachable for clients; left out: Amazon S3 in the region.',
    accessKeyId:
      'Id of the access key, which must be allowed to put, get, list and delete objects.',
  }),
  prefix: key(text(), 'Prefix of the names of all objects.', 'tollgate/'),
})

const store = section({
  s3: key(
    s3,
    'S3-compatible bucket for hosted results; left out: the data folder of this machine.',
  ),
})

export const media = section({
  urlHours: key(hours, 'Hours after which the address of a hosted result expires.', 24),
  maxResultBytes: key(
    bytes,
    'Largest result in bytes that is fetched from a vendor; a larger one fails with 503.',
    1024 * 1024 * 1024,
  ),
  maxStoredBytes: key(
    bytes,
    "Most bytes of hosted results on this machine's disk; above it requests whose result must be hosted get 503. Does not limit a bucket.",
    10 * 1024 * 1024 * 1024,
  ),
  store: part(store, 'Where hosted results are stored.'),
})
