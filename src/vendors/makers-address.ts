// Tells OpenAI's and Azure's own addresses from those of servers that imitate them.

const makersHost = /(^|\.)(openai|azure)\.com$/

export function isMakersAddress(url: string): boolean {
  return makersHost.test(new URL(url).hostname)
}
