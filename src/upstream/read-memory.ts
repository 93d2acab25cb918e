// Memory of large reads, given back as soon as their bytes have left: the collector would come to it much later.

/** Less is not worth it. */
const leastBytes = 65_536
const reads = new WeakSet<ArrayBufferLike>()

/** Notes the rest of a read of a connection: what stands before it in its buffer is not looked at any more. */
export function noteRead({ buffer, byteOffset, length }: Uint8Array): void {
  if (length >= leastBytes && byteOffset + length === buffer.byteLength) reads.add(buffer)
}

/**
 * Frees the memory of a read that ends in these bytes; what is no read stays. To be called by whom alone the read was
 * left to, when no part of it is looked at any more: all are empty from then on.
 */
export function giveBack(bytes: Uint8Array): void {
  const { buffer, byteOffset, length } = bytes
  if (byteOffset + length < buffer.byteLength || !reads.delete(buffer)) return
  if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}
