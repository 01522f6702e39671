/** Counts the messages that were dropped since the last report, because the queue was full. */
export class DroppedMessages {
  readonly #countByChannel = new Map<number | null, number>()
  #hasDiskFailed = false

  get isEmpty(): boolean {
    return this.#countByChannel.size === 0
  }

  /** `channel` is null for a message that concerns no channel. */
  add(channel: number | null): void {
    this.#countByChannel.set(channel, (this.#countByChannel.get(channel) ?? 0) + 1)
  }

  /** Records that the disk has failed, which is then reported as the cause. */
  recordDiskFailure(): void {
    this.#hasDiskFailed = true
  }

  /**
   * Describes how many messages were dropped, and the channel that has lost most of them. Resets
   * the counts. Must not be called if there are none.
   */
  report(): string {
    const counts = [...this.#countByChannel]
    const totalCount = counts.reduce((sum, [, count]) => sum + count, 0)
    const [channel, channelCount] = counts.reduce((max, next) => (next[1] > max[1] ? next : max))
    const hasDiskFailed = this.#hasDiskFailed

    this.#countByChannel.clear()
    this.#hasDiskFailed = false

    if (hasDiskFailed) {
      return `${totalCount} messages were lost while the disk could not be written: free some disk space`
    }
    return (
      `${totalCount} messages were lost, because more are reported than the disk can store; ` +
      `${channelCount} of them on channel ${channel}: ` +
      'change or remove the element of this channel that reports so many events'
    )
  }
}
