// Removes secrets from text: by what they are where known, by what they look like where not.

export const redacted = '[redacted]'

/**
 * Shapes of credentials in vendors' messages, masked ones (`sk-proj-****abcd`) included, and ids that
 * tell whose account it is (`org-...`). Prefixes as the vendors document or show them. None matches a
 * quote or a backslash, so that a line of JSON stays one.
 */
const shapes = new RegExp(
  [
    String.raw`\b(?:[Bb]earer|BEARER)\s+[\w.~+/=*…-]{6,}`,
    String.raw`\b(?:sk|pk|rk)[-_][\w*….-]{5,}[\w*]`,
    String.raw`\b(?:xai|gsk|csk|pplx|fw|org|proj|hf|tgp|r8|ghp|gho|github_pat)[-_][\w*…-]{16,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{12,}`,
    String.raw`\bAIza[\w*…-]{10,}`,
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
    String.raw`(?<=[?&](?:api[-_]?key|key|token|access_token|secret|signature|sig)=)[^&\s"'\\]+`,
    String.raw`(?<=://)[^/\s:@"'\\]*:[^/\s@"'\\]+(?=@)`,
  ].join('|'),
  'g',
)

/** A cheap first look: text without any of these holds nothing of the shapes above. */
const hint =
  /[spr]k[-_]|[Bb]earer|BEARER|AKIA|ASIA|AIza|eyJ|:\/\/|[?&]\w|(?:xai|gsk|csk|pplx|fw|org|proj|hf|tgp|r8|ghp|gho|pat)[-_]/
const shortestShape = 9
const shortestSecret = 6

/**
 * The text without the given secrets (nor their URL-encoded form) and without anything that looks
 * like a credential. For what a vendor said, before a client or a log sees it.
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
