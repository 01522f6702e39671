import type { PushSubscription as StoredSubscription } from '@eyrie/contract/management/index'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'

const WORKER_PATH = '/push-worker.js'
/**
 * Key in the local storage for the id of this browser's subscription. It must not change: browsers
 * already use it.
 */
const SUBSCRIPTION_KEY = '/push-worker.js'
const MAX_LABEL_LENGTH = 100

/** Switches messages about alerts on and off in this browser. */
export function PushSwitch() {
  const isOn = useSignal<boolean | undefined>(undefined)
  const isBusy = useSignal(false)
  const error = useSignal('')
  const isSupported = 'serviceWorker' in navigator && 'PushManager' in window

  useEffect(() => {
    if (isSupported) void run(isSubscribed)
  }, [])

  /** Runs an action that returns whether messages are on, and shows the result or the error. */
  async function run(action: () => Promise<boolean>) {
    isBusy.value = true
    error.value = ''
    try {
      isOn.value = await action()
    } catch (failure) {
      error.value = capitalize((failure as Error).message)
    } finally {
      isBusy.value = false
    }
  }

  if (!isSupported) {
    return <p>This browser cannot show messages here: open the console at an address with https.</p>
  }
  return (
    <>
      <p>Shows the alerts of your channels in this browser, also while the console is closed.</p>
      <label class="switch">
        <input
          type="checkbox"
          checked={isOn.value ?? false}
          disabled={isBusy.value || (isOn.value === undefined && !error.value)}
          onChange={event => void run(event.currentTarget.checked ? subscribe : unsubscribe)}
        />
        Messages in this browser
      </label>
      <p class="error" role="alert">
        {error.value}
      </p>
    </>
  )
}

/**
 * Returns whether the signed-in user receives messages here. The browser may be
 * subscribed for another user.
 */
async function isSubscribed(): Promise<boolean> {
  if (!(await findSubscription())) return false
  const ownId = localStorage.getItem(SUBSCRIPTION_KEY)
  const stored = await callOperation<StoredSubscription[]>('/user/push/list')
  return stored.some(({ push_subscription_id }) => push_subscription_id === ownId)
}

async function findSubscription(): Promise<PushSubscription | null> {
  const registration = await navigator.serviceWorker.getRegistration(WORKER_PATH)
  return registration ? registration.pushManager.getSubscription() : null
}

async function subscribe(): Promise<boolean> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('the browser does not permit messages: allow them for this page')
  }
  const { public_key } = await callOperation<{ public_key: string }>('/user/push/key')
  await navigator.serviceWorker.register(WORKER_PATH)
  const registration = await navigator.serviceWorker.ready
  const subscription = await registration.pushManager.subscribe({
    // Browsers reject subscriptions for messages that the user does not see.
    userVisibleOnly: true,
    applicationServerKey: public_key,
  })
  const { endpoint, keys = {} } = subscription.toJSON()
  const { p256dh, auth } = keys
  const stored = await callOperation<StoredSubscription>('/user/push/subscribe', {
    endpoint,
    p256dh,
    auth,
    label: navigator.userAgent.slice(0, MAX_LABEL_LENGTH),
  })
  localStorage.setItem(SUBSCRIPTION_KEY, stored.push_subscription_id)
  return true
}

async function unsubscribe(): Promise<boolean> {
  const ownId = localStorage.getItem(SUBSCRIPTION_KEY)
  const subscription = await findSubscription()
  await subscription?.unsubscribe()
  if (ownId) {
    localStorage.removeItem(SUBSCRIPTION_KEY)
    await callOperation('/user/push/unsubscribe', { push_subscription_id: ownId })
  }
  return false
}
