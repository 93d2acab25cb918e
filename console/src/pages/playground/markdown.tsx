// Shows Markdown of models as React elements: without HTML, with links that reveal nothing; while it grows only the
// last block is read again.

import { Trans, useLingui } from '@lingui/react/macro'
import type { MarkedToken, Token, Tokens } from 'marked'
import { memo, type ReactNode, useRef } from 'react'
import { CodeBlock } from '../../clients/code-block.tsx'
import { nothingRead, readOn } from './blocks.ts'

export function Markdown({ text }: { readonly text: string }) {
  const blocks = useBlocks(text)
  return (
    <div className="flex min-w-0 flex-col gap-2 break-words">
      {blocks.map((token, index) => (
        <Block key={index} token={token} />
      ))}
    </div>
  )
}

function useBlocks(text: string): readonly Token[] {
  const read = useRef(nothingRead)
  if (read.current.text !== text) read.current = readOn(read.current, text)
  return read.current.blocks
}

const Block = memo(
  ({ token }: { readonly token: Token }) => <BlockOf token={token as MarkedToken} />,
  (before, after) => before.token.raw === after.token.raw,
)

function BlockOf({ token }: { readonly token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'heading':
      return (
        <p role="heading" aria-level={Math.min(6, token.depth + 3)} className="mt-1 font-semibold">
          <Inline tokens={token.tokens} />
        </p>
      )
    case 'code':
      return <Code text={token.text} language={token.lang} />
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-border-strong/50 pl-3 text-text-2">
          <Blocks tokens={token.tokens} />
        </blockquote>
      )
    case 'list':
      return <List list={token as Tokens.List} />
    case 'table':
      return <Table table={token as Tokens.Table} />
    case 'hr':
      return <hr className="border-border" />
    case 'space':
    case 'def':
    case 'checkbox':
      return null
    case 'paragraph':
    case 'text':
      return (
        <p className="whitespace-pre-wrap">
          {token.tokens === undefined ? token.raw : <Inline tokens={token.tokens} />}
        </p>
      )
    default:
      // HTML is shown as text.
      return <p className="whitespace-pre-wrap">{token.raw}</p>
  }
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }) {
  return tokens.map((token, index) => <Block key={index} token={token} />)
}

function Code({
  text,
  language,
}: {
  readonly text: string
  readonly language: string | undefined
}) {
  const { t } = useLingui()
  return <CodeBlock where={language?.split(/\s/)[0] || t`Code`} text={text} />
}

function List({ list }: { readonly list: Tokens.List }) {
  const items = list.items.map((item, index) => (
    <li key={index}>
      {item.task && (
        <span role="img" aria-label={item.checked === true ? '☑' : '☐'}>
          {item.checked === true ? '☑ ' : '☐ '}
        </span>
      )}
      <Blocks tokens={item.tokens} />
    </li>
  ))
  const look = 'flex flex-col gap-1 pl-6'
  return list.ordered ? (
    <ol start={Number(list.start) || 1} className={`list-decimal ${look}`}>
      {items}
    </ol>
  ) : (
    <ul className={`list-disc ${look}`}>{items}</ul>
  )
}

const sides = { left: 'text-left', right: 'text-right', center: 'text-center' } as const

function Table({ table }: { readonly table: Tokens.Table }) {
  const { t } = useLingui()
  const look = (cell: Tokens.TableCell) =>
    `border-b border-border px-2 py-1 ${sides[cell.align ?? 'left']}`
  return (
    <div tabIndex={0} role="region" aria-label={t`Table`} className="overflow-x-auto">
      <table className="text-cell">
        <thead>
          <tr>
            {table.header.map((cell, index) => (
              <th key={index} scope="col" className={`${look(cell)} font-semibold`}>
                <Inline tokens={cell.tokens} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, place) => (
            <tr key={place}>
              {row.map((cell, index) => (
                <td key={index} className={look(cell)}>
                  <Inline tokens={cell.tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Inline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <InlineOf key={index} token={token as MarkedToken} />)
}

function InlineOf({ token }: { readonly token: MarkedToken }): ReactNode {
  switch (token.type) {
    case 'strong':
      return (
        <strong>
          <Inline tokens={token.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Inline tokens={token.tokens} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Inline tokens={token.tokens} />
        </del>
      )
    case 'codespan':
      return <code className="rounded bg-sunken px-1 font-mono text-code">{token.text}</code>
    case 'br':
      return <br />
    case 'link':
      return (
        <External href={token.href}>
          <Inline tokens={token.tokens} />
        </External>
      )
    case 'image':
      // The image is loaded only when the person opens it, since its server would learn who reads.
      return (
        <External href={token.href}>
          <Trans>Image: {token.text || token.href}</Trans>
        </External>
      )
    case 'text':
    case 'escape':
      return plain(token.text)
    default:
      return token.raw
  }
}

function External({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(href)) return children
  return (
    <a href={href} target="_blank" rel="noopener nofollow noreferrer">
      {children}
    </a>
  )
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': '\u00a0',
}

function plain(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity] ?? entity)
}
