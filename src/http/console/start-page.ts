// The page at / until the console is built: that it is being built, or why the build failed. English and Chinese.

import { escapeHtml } from '../html.ts'

/** What a newcomer needs to make a first request. */
export interface FirstSteps {
  /** The gateway's address, without a slash at its end. */
  readonly url: string
  /** A shell command that makes a request. */
  readonly call: string
}

const languages = ['en', 'zh-CN'] as const
type Language = (typeof languages)[number]

interface Texts {
  readonly building: string
  readonly opens: string
  readonly failed: string
  readonly serves: string
  readonly again: string
  readonly seeLog: string
  readonly firstCall: string
}

const texts: Readonly<Record<Language, Texts>> = {
  en: {
    building: 'The console is being built',
    opens: 'This page turns into the console by itself. The API serves already:',
    failed: 'The console could not be built',
    serves: 'The API serves all the same:',
    again: 'Once the cause is mended, this builds it, and a reload of this page opens it:',
    seeLog: 'Why stands in the log of the server.',
    firstCall: 'A first call',
  },
  'zh-CN': {
    building: '控制台正在构建',
    opens: '构建完成后，本页会自动变为控制台。API 已经可用：',
    failed: '控制台构建失败',
    serves: 'API 不受影响，照常可用：',
    again: '排除原因后，运行以下命令重新构建，再刷新本页即可打开控制台：',
    seeLog: '失败原因请查看服务器日志。',
    firstCall: '第一次调用',
  },
}

export const startStyle = `:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 44rem; margin: 4rem auto; padding: 0 1.5rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.125rem }
pre { overflow-x: auto; padding: 1rem; border: 1px solid #8886; border-radius: .5rem; font-size: .875rem }
`

/** English unless the Accept-Language header prefers Chinese. */
export function languageOf(accepted: string | null): Language {
  const weighed = (accepted ?? '').split(',').map((each) => {
    const [name = '', weight] = each
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/)
    return { name, weight: weight === undefined ? 1 : Number(weight) }
  })
  const weightOf = (start: string) =>
    Math.max(0, ...weighed.filter(({ name }) => name.startsWith(start)).map(({ weight }) => weight))
  return weightOf('zh') > weightOf('en') ? 'zh-CN' : 'en'
}

export function startPage(language: Language, { url }: FirstSteps): string {
  const { building, opens } = texts[language]
  const refresh = '<meta http-equiv="refresh" content="2">'
  return page(language, building, refresh, `<p>${opens} <code>${escapeHtml(url)}/v1</code></p>`)
}

/** `why`: the build's error; null where this client may not see it. */
export function failedPage(language: Language, { url, call }: FirstSteps, why: string | null) {
  const { failed, serves, again, seeLog, firstCall } = texts[language]
  const cause = why === null ? `<p>${seeLog}</p>` : `<pre><code>${escapeHtml(why)}</code></pre>`
  const body = `${cause}
<p>${again} <code>npm run console</code></p>
<p>${serves} <code>${escapeHtml(url)}/v1</code></p>
<h2>${firstCall}</h2>
<pre><code>${escapeHtml(call)}</code></pre>`
  return page(language, failed, '', body)
}

function page(language: Language, title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/console/start.css">
<title>Tollgate: ${title}</title>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
}
