import type { LiveChannel } from '@eyrie/contract/console-api'

/** What is wrong with a channel; where its source is lost, also how often it was tried and when it will be. */
export function reasonOf({ reason, source }: Pick<LiveChannel, 'reason' | 'source'>): string | undefined {
  const { attempts, next_try_s: seconds } = source
  if (attempts === undefined) return reason
  const next = seconds === undefined ? 'trying again' : `next try in ${seconds} s`
  return [`attempt ${attempts} failed, ${next}`, ...(reason ? [reason] : [])].join(': ')
}
