"""Tests the report in a real browser: there are no errors, hover, zoom and play work, and the page looks like stored pictures. A
report with markup in its strings must show it as text.
   browser_test.py REPORT HOSTILE FOLDER [--store]   pictures go to FOLDER; --store makes them the stored ones
Exit status 77 (skipped) if Chromium or Selenium is missing: see scripts/setup --browser."""
import base64
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
SIZES = {"wide": (1280, 900), "phone": (390, 844)}

try:
    from selenium import webdriver
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("SKIPPED: no Selenium: scripts/setup --browser installs it")
    sys.exit(77)
if not shutil.which("chromium") or not shutil.which("chromedriver"):
    print("SKIPPED: no Chromium: scripts/setup --browser installs it")
    sys.exit(77)

LOAD = """
const load = src => new Promise((good, bad) => {
  const image = new Image();
  image.onload = () => good(image); image.onerror = bad; image.src = 'data:image/png;base64,' + src;
});
const draw = (image, width, height) => {
  const canvas = document.createElement('canvas');
  canvas.width = width; canvas.height = height;
  const context = canvas.getContext('2d', {willReadFrequently: true});
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  return canvas;
};
"""
# Shrinks a picture to a fifth of its size, so that differences in font smoothing between machines
# hardly matter.
SMALL = LOAD + """
const [a, done] = arguments;
load(a).then(image => done(draw(image, Math.round(image.width / 5), Math.round(image.height / 5)).toDataURL().split(',')[1]));
"""
# The mean difference of two pictures, from 0 to 1.
DIFFERENCE = LOAD + """
const [a, b, done] = arguments;
Promise.all([load(a), load(b)]).then(images => {
  if (images[0].width !== images[1].width || Math.abs(images[0].height - images[1].height) > 12) return done(1);
  const [one, two] = images.map(i => draw(i, i.width, Math.min(images[0].height, images[1].height))
    .getContext('2d').getImageData(0, 0, i.width, Math.min(images[0].height, images[1].height)).data);
  let sum = 0;
  for (let i = 0; i < one.length; ++i) sum += Math.abs(one[i] - two[i]);
  done(sum / one.length / 255);
}).catch(() => done(1));
"""


def browser(width, height, scheme):
    options = Options()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-device-scale-factor=1", "--disable-background-networking", "--no-first-run"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.set_page_load_timeout(60)
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions",
                           {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
    return driver


def check(what, good):
    print(("ok    " if good else "WRONG ") + what)
    if not good:
        check.failed = True


check.failed = False


def window(driver):
    frame = driver.find_element(By.CSS_SELECTOR, ".timeline")
    return float(frame.get_attribute("data-from")), float(frame.get_attribute("data-until"))


def hover(driver, selector, dx=0, dy=0):
    element = driver.find_element(By.CSS_SELECTOR, selector)
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    ActionChains(driver, duration=50).move_to_element_with_offset(element, dx, dy).perform()
    tip = driver.find_element(By.ID, "tip")
    return tip.text if tip.is_displayed() else ""


def interact(driver):
    check("hover on the timeline tells the group", "bfs" in hover(driver, ".timeline canvas", 20, -140))
    check("hover on a point tells its value", "×" in hover(driver, "#performance circle.point"))
    check("hover on a diamond tells the paper's", "the paper" in hover(driver, "#performance path.paper"))
    check("hover on a bar tells its range", "p99" in hover(driver, "#barrier rect"))

    before = window(driver)
    driver.find_element(By.ID, "zoom-in").click()
    inside = window(driver)
    check("zoom in shows half of the time", abs((inside[1] - inside[0]) * 2 - (before[1] - before[0])) < 1)
    canvas = driver.find_element(By.CSS_SELECTOR, ".timeline canvas")
    ActionChains(driver, duration=50).click_and_hold(canvas).move_by_offset(-120, 0).release().perform()
    check("dragging moves it", window(driver)[0] > inside[0])
    driver.find_element(By.ID, "zoom-all").click()
    check("all shows all", window(driver) == before)

    play = driver.find_element(By.ID, "play")
    cursor = lambda: float(driver.find_element(By.CSS_SELECTOR, ".timeline").get_attribute("data-cursor") or -1)
    play.click()
    WebDriverWait(driver, 20).until(lambda _: cursor() > 1000)
    one = cursor()
    WebDriverWait(driver, 20).until(lambda _: cursor() > one)
    check("play moves the cursor", cursor() > one)
    check("play tells how many groups there are", "of 8 groups" in driver.find_element(By.ID, "readout").text)
    play.click()
    still = cursor()
    driver.execute_async_script("setTimeout(arguments[0], 200)")
    check("pause holds it", cursor() == still)
    driver.find_element(By.ID, "zoom-all").click()

    buttons = driver.find_elements(By.CSS_SELECTOR, "#responsiveness .controls button")
    buttons[0].click()
    check("another class can be chosen", buttons[0].get_attribute("aria-pressed") == "true")
    check("the heat map has a row for each pair", len(driver.find_elements(By.CSS_SELECTOR, "#responsiveness .heat g.row")) == 5)
    check("hover on a cell tells its gather time", "gather" in hover(driver, "#responsiveness .heat g.point"))

    contents(driver, ("timeline", "performance", "responsiveness", "preemption", "outlier", "barrier", "sizing"))
    driver.execute_script("scrollTo(0, 0)")
    driver.find_elements(By.CSS_SELECTOR, "#sets button")[1].click()
    contents(driver, ("background", "sharing", "lease", "device-gather", "fairness"))
    check("a figure of a busy machine carries the warning, in the contents and in its section",
          all("40 % of the CPUs" in driver.find_element(By.CSS_SELECTOR, found).text
              for found in ("#overview [href$=background]", "section#background")))
    check("other figures do not", driver.find_element(By.TAG_NAME, "main").text.count("40 % of the CPUs") == 2)
    sharing = driver.find_element(By.ID, "sharing").text
    check("ways of sharing that did not serve are named", "stream priority" in sharing and "resident" not in sharing)
    driver.execute_script("scrollTo(0, 0)")
    driver.find_elements(By.CSS_SELECTOR, "#sets button")[2].click()
    beside = driver.find_element(By.ID, "sets-beside").text
    check("machines are side by side", "a made-up GPU" in beside)
    check("a figure of a busy machine is marked there", "100 ns (2 threads) ⚠" in beside)
    driver.back()
    WebDriverWait(driver, 20).until(lambda d: d.find_elements(By.ID, "sharing"))
    check("the browser's back button goes to the page before", True)


def contents(driver, expected):
    """The contents lead to all sections, in order."""
    sections = [each.get_attribute("id") for each in driver.find_elements(By.CSS_SELECTOR, "main section")]
    check(f"there are the sections {', '.join(expected)}", tuple(sections) == expected)
    links = driver.find_elements(By.CSS_SELECTOR, "#overview a")
    check("the contents list them", [link.get_attribute("href").split("/")[-1] for link in links] == sections)
    links[-1].click()
    in_view = "const top = document.getElementById(arguments[0]).getBoundingClientRect().top; return -1 <= top && top < innerHeight"
    try:  # the page scrolls a moment after the click, when it is told of the new address
        WebDriverWait(driver, 20).until(lambda d: d.execute_script(in_view, sections[-1]))
        arrived = True
    except TimeoutException:
        arrived = False
    check("a link in the contents goes to its section", arrived)


# Moves the pointer over every element with a tooltip, and returns the tooltips' texts.
TIPS = """
const texts = new Set();
for (const element of document.querySelectorAll('.point, svg g, .timeline canvas')) {
  const box = element.getBoundingClientRect();
  for (const part of [0.1, 0.5, 0.9]) {
    element.dispatchEvent(new MouseEvent('mousemove', {bubbles: true, clientX: box.x + box.width * part, clientY: box.y + box.height * part}));
    const tip = document.getElementById('tip');
    if (!tip.hidden) texts.add(tip.textContent);
    if (tip.querySelector('img')) return 'markup in a tip: ' + tip.innerHTML;
  }
}
return [...texts].join('\\n');
"""


def attack(driver, page):
    driver.get(page.as_uri())
    ready = lambda d: d.find_element(By.TAG_NAME, "html").get_attribute("data-ready")
    try:
        WebDriverWait(driver, 60).until(ready)
    except TimeoutException:
        check("hostile strings: the page is drawn", False)
        return
    tips = ""
    for button in range(len(driver.find_elements(By.CSS_SELECTOR, "#sets button"))):
        driver.execute_script("document.querySelectorAll('#sets button')[arguments[0]].click()", button)
        tips += driver.execute_script(TIPS)
        check(f"hostile strings: set {button} shows them as text",
              "<img src=x" in driver.find_element(By.TAG_NAME, "body").text)
        elements = driver.execute_script("return document.querySelectorAll('img').length")
        check(f"hostile strings: set {button} has no elements of theirs", elements == 0)
    check("hostile strings: tips show them as text", "<img src=x" in tips and "markup in a tip" not in tips)
    check("hostile strings: nothing of them was run", driver.execute_script("return typeof attacked") == "undefined")
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    check(f"hostile strings: no errors on the console {errors or ''}", not errors)


def main():
    page, hostile_page, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    folder.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            driver = browser(width, height, scheme)
            try:
                driver.get(page.as_uri())
                WebDriverWait(driver, 60).until(lambda d: d.find_element(By.TAG_NAME, "html").get_attribute("data-ready"))
                overflow = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
                check(f"{size} {scheme}: the page is no wider than the screen", overflow <= 0)
                full = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": {
                    "x": 0, "y": 0, "width": width, "scale": 1,
                    "height": driver.execute_script("return document.documentElement.scrollHeight")}})["data"]
                (folder / f"{size}-{scheme}.png").write_bytes(base64.b64decode(full))
                stored = HERE / "pictures" / f"{size}-{scheme}.png"
                small = driver.execute_async_script(SMALL, full)
                if "--store" in sys.argv:
                    stored.parent.mkdir(exist_ok=True)
                    stored.write_bytes(base64.b64decode(small))
                else:
                    difference = driver.execute_async_script(
                        DIFFERENCE, small, base64.b64encode(stored.read_bytes()).decode())
                    check(f"{size} {scheme}: looks as stored (difference {difference:.4f})", difference < 0.03)
                if (size, scheme) == ("wide", "light"):
                    interact(driver)
                errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
                check(f"{size} {scheme}: no errors on the console {errors or ''}", not errors)
            finally:
                driver.quit()
    driver = browser(1280, 900, "light")
    try:
        attack(driver, hostile_page)
    finally:
        driver.quit()
    sys.exit(1 if check.failed else 0)


main()
