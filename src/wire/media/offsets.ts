// Where the parts of a prompt begin that are more than text, noted while the prompt is checked.

export interface AttachmentOffsets {
  /** In bytes of the body; undefined: none. */
  attachments: number[] | undefined
}

export function addAttachment(offsets: AttachmentOffsets, at: number): void {
  offsets.attachments ??= []
  offsets.attachments.push(at)
}
