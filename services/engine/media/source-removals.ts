import type { MessageFromMedia } from '@eyrie/contract/media'

/**
 * The sources that the engine has removed, while the media service has not confirmed it: its
 * messages may still be about an earlier run. If such a source is played again, its frames are
 * numbered from 1, so a late message about the last frame of the earlier run would make all of them
 * appear old.
 */
export class SourceRemovals {
  /** The unconfirmed revision of the desired state that removed a source, by source. */
  readonly #revisions = new Map<number, number>()

  /** Notes that this revision of the desired state removes a source. */
  add(source: number, revision: number): void {
    this.#revisions.set(source, revision)
  }

  /** Notes that the media service has applied this revision. */
  confirm(revision: number): void {
    for (const [source, removed] of this.#revisions) {
      if (removed <= revision) this.#revisions.delete(source)
    }
  }

  /** Must be called for a new connection, on which no message is about an earlier run. */
  clear(): void {
    this.#revisions.clear()
  }

  /** Whether messages about a source are about an earlier run. */
  isPending(source: number): boolean {
    return this.#revisions.has(source)
  }
}

/** Returns the source that a message is about; undefined if it is about none. */
export function findSource(message: MessageFromMedia): number | undefined {
  if (message.type === 'source') return message.status.id
  return 'source' in message ? message.source : undefined
}
