import { computed, effect, signal } from '@preact/signals'

const KEY = 'volume'
const LEAST = 0.05

/** Whether people want to hear what they see. Not at first: browsers let no page begin with sound. */
export const listening = signal(false)

/** How loud it is then, from 0.05 to 1: as it was last set in this browser. */
export const loudness = signal(remembered())

/** 0 while nobody listens. */
export const volume = computed(() => (listening.value ? loudness.value : 0))

effect(() => localStorage.setItem(KEY, String(loudness.value)))

function remembered(): number {
  const value = Number(localStorage.getItem(KEY) ?? 1)
  return value >= LEAST && value <= 1 ? value : 1
}
