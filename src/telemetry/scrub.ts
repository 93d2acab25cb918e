// Removes secrets from text: known ones by their value, others by their form.

export const redacted = '[redacted]'

/**
 * Forms of credentials in vendors' messages, also masked ones (`sk-proj-****abcd`), and ids that identify an account
 * (`org-...`). Prefixes as the vendors document or show them. None matches a quote or a backslash, so that a JSON line
 * stays valid.
 */
const shapes = new RegExp(
  [
    String.raw`\b(?:[Bb]earer|BEARER)\s+[\w.~+/=*…-]{6,}`,
    String.raw`\b(?:sk|pk|rk)[-_][\w*….-]{5,}[\w*]`,
    String.raw`\b(?:xai|gsk|csk|pplx|fw|org|proj|hf|tgp|r8|ghp|gho|github_pat)[-_][\w*…-]{16,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{12,}`,
    String.raw`\bAIza[\w*…-]{10,}`,
    // The bound keeps a run of such beginnings from being searched to its end for each.
    String.raw`\beyJ[\w-]{8,512}\.[\w-]{8,}(?:\.[\w-]*)?`,
    String.raw`(?<=[?&](?:api[-_]?key|key|token|access_token|secret|signature|sig)=)[^&\s"'\\]+`,
    String.raw`(?<=://)[^/\s:@"'\\]*:[^/\s@"'\\]+(?=@)`,
  ].join('|'),
  'g',
)

/** A cheap first test: text without any of these contains none of the forms above. */
const hint =
  /[spr]k[-_]|[Bb]earer|BEARER|AKIA|ASIA|AIza|eyJ|:\/\/|[?&]\w|(?:xai|gsk|csk|pplx|fw|org|proj|hf|tgp|r8|ghp|gho|pat)[-_]/
const shortestShape = 9
const shortestSecret = 6

/**
 * The text without the given secrets (and their URL-encoded form) and without anything that looks like a credential.
 * For vendors' messages, before a client or a log sees them.
 */
export function scrub(text: string, secrets: readonly string[] = []): string {
  let clean = text
  for (const secret of secrets) {
    if (secret.length < shortestSecret) continue
    clean = clean.replaceAll(secret, redacted)
    const encoded = encodeURIComponent(secret)
    if (encoded !== secret) clean = clean.replaceAll(encoded, redacted)
  }
  return clean.length >= shortestShape && hint.test(clean) ? clean.replace(shapes, redacted) : clean
}
