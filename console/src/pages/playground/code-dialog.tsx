// The request as code to copy.

import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { CodeBlock } from '../../clients/code-block.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Segments } from '../../ui/field.tsx'
import { codeOf, type Language } from './code.ts'

interface CodeDialogProps {
  readonly path: string
  readonly body: object
  readonly onClose: () => void
}

export function CodeDialog({ path, body, onClose }: CodeDialogProps) {
  const { t } = useLingui()
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <Dialog wide title={<Trans>This request as code</Trans>} onClose={onClose}>
      <div className="flex flex-col gap-3">
        <Segments
          label={t`Language`}
          value={language}
          onChange={setLanguage}
          options={[
            { value: 'curl', label: 'curl' },
            { value: 'javascript', label: 'JavaScript' },
            { value: 'python', label: 'Python' },
          ]}
        />
        <CodeBlock
          where={language === 'curl' ? null : language === 'python' ? 'ask.py' : 'ask.mjs'}
          text={codeOf(language, { base: location.origin, path, body })}
        />
        <p className="text-text-2">
          <Trans>YOUR_KEY is a key of yours. Bytes of attached files are left out.</Trans>
        </p>
      </div>
    </Dialog>
  )
}
