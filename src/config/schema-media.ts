// The section of the file on images, sound and video.

import { isHttpUrl, withoutTrailingSlash } from './rules.ts'
import { checkedText, key, part, secretText, section, text, wholeNumber } from './schema-parts.ts'

const bytes = wholeNumber(1_024, 1_099_511_627_776)
/** S3's signed addresses are valid for at most seven days (Signature Version 4, query string). */
const hours = wholeNumber(1, 168)

/** The settings of a bucket, wherever one is configured. `use`: descriptions of its address and of its key's rights. */
export const bucketKeys = (use: { readonly endpoint: string; readonly accessKeyId: string }) => ({
  endpoint: key(
    checkedText('expected an http or https address', isHttpUrl).transform(withoutTrailingSlash),
    use.endpoint,
  ),
  bucket: text().meta({ description: 'Name of the bucket.' }),
  region: key(text(), 'Region of the bucket, where the store has regions.'),
  accessKeyId: secretText().meta({ description: use.accessKeyId }),
  secretAccessKey: secretText().meta({ description: 'The key itself.' }),
})

const s3 = section({
  ...bucketKeys({
    endpoint: "Address of the store; left out: Amazon's, by region. Clients fetch from there.",
    accessKeyId: 'Id of the key that reads, writes, lists and deletes.',
  }),
  prefix: key(text(), 'Stands before the name of all that is kept there.', 'tollgate/'),
})

const store = section({
  s3: key(s3, "Any store that speaks S3; left out: this machine's disk."),
})

export const media = section({
  urlHours: key(hours, 'How long a hosted result is served.', 24),
  maxResultBytes: key(
    bytes,
    'Largest result that is fetched from where a vendor keeps it.',
    1024 * 1024 * 1024,
  ),
  maxStoredBytes: key(
    bytes,
    "Hosted results on this machine's disk, in all; past it none is hosted.",
    10 * 1024 * 1024 * 1024,
  ),
  store: part(store, 'Where hosted results lie.'),
})
