"""Words that give nothing away by themselves, and turns of phrase that mean something else [C].

A label like "Return to work of a colleague after a stroke" shares "return", "work" and
"after" with talk about any meeting. Three lists keep such words apart. They were written from
general knowledge of English and of scheduling talk, not from one set of messages.
"""

import re
from typing import Final

from calbench.metrics.speech.stems import base

FUNCTION: Final = frozenset(
    re.findall(
        r"\w+",
        """a an the and or but nor so if then than that this these those there here it its i im
    ive id
    ill me my mine myself we us our ours ourselves you your yours he him his she her hers they them
    their theirs who whom whose which what when where why how is are was were be been being am do
    does did done doing have has had having will would wont shall should can cant cannot could may
    might must of in on at by for from to into onto with without within about over under above below
    between across through during before after since until till while as not no none nobody nothing
    never ever all any some each every both either neither one two three four five six seven eight
    nine ten first second third fourth last next only just also too very much many more most less
    least few own same other another such up down out off again once ok okay yes yeah please thanks
    thank hi hello dear sorry because like via per dr mr mrs ms let lets theres thats
    new old late long well now soon still yet already even maybe perhaps whether though although
    however instead otherwise else etc re vs pm oclock""",
    )
)
"""Words that build sentences: no evidence at all."""

CORE: Final = frozenset(
    base(word)
    for word in re.findall(
        r"\w+",
        """slot slots meeting meetings errand errands agent agents calendar calendars
    schedule scheduling reschedule time times free busy move moving cost costs available
    availability
    open blocked appointment appointments participant participants round turn priority prior event
    events commitment commitments work works thing things day days week weekly daily monthly
    session sessions call conflict label private""",
    )
)
"""What every calendar is made of: no evidence, alone or in company."""

COMMON: Final = CORE | frozenset(
    base(word)
    for word in re.findall(
        r"\w+",
        """able accept access account across act action active add adjust adjustment
    advance advice advise afternoon agenda agree agreed agreement ahead allow alternative amount
    announce annual answer apologies apology apply approach approval approve area arrange
    arrangement ask assembly assign assist assume attend attention autumn avoid awaiting away back
    balance base basis beat begin benefit best better big bit block board body book
    booked booking bottle bottom box branch break brief bring broken build business buy
    cancel card care carry case cause central chain challenge chance change changes channel
    charge chart charts check child choice choose circle city claim clean clear clearance
    close club code colleague collect combine come comfortable commit committee common
    communicate community company compare complaint complete concern condition conference
    confident confirm confirmation connect consider consultation contact contest
    continue contract convenient conversation cool coordinate coordination copy correct count couple
    course court cover create cross current customer cut cycle damage date deal decide
    decision deep default defence delay deliver delivery demand department desk detail details
    difference different difficult difficulty direct discuss discussion dispatch disrupt
    document door double downtown draft draw drive driver driving drop dry due duty earlier early
    east easter easy edge effort emergency empty end energy enjoy entry equal essential
    evening everybody everyone exact example exchange exit expect expense expensive explain
    external extra eye face fact fair fall family far favour feature fee feedback feel field
    figure file filing fill final finalize find fine finish fire firing firm fit fitting fix flag
    flat flexibility flexible floor flow focus follow followup force forward found friend
    friends front full funding further future game gap get give glad go goal gold
    good great group guess guest guide half hall hand handle happen happy hard head hear hearing
    heavy help high hold home hope hour hours house idea ideal impact important impossible improve
    inconvenient individual info inform information initiative inquiry inspection intend interest
    internal invite involve issue item items job join joint keep key keys kind know lab
    lake large launch lay layer lead leader learn leave left lesson let letter level levels light
    limit line lines link list listen load local lock locked long look loss losses lost lot
    loud low main maintain maintenance major make man management map maps mark market master
    match matter mean medium meet member memory men mention mere message mind minimum minor minute
    missing mobile model moment money month morning mutual name near necessary need
    net nets network night noon normal northern note notes notice number object objection obligation
    occupied occupy offer office on online operation opinion opportunity option options order
    organize organizing original outcome overlap pack packing pad page pair papers
    park part partner party pass patch path patient pause pay peak people perfect performance period
    permit person personal phone pick pickup piece place placement plan planning plans plant
    plants play plenty point points policy pool poor pop position possible post potential practical
    practice prefer preference preparation prepare present presentation press pressure pretty
    previous price primary problem proceed process product production professional program progress
    project promise proper proposal propose protection provide public pull purpose push put quality
    quarter question questions quick quiet quite quote quotes random range rate rather raw
    reach read
    reading ready real reason reasonable receive recent record records reduce refer refill regard
    regular reject related release relevant reliable rely remain remember remove renew repair
    repeat reply report request require reserve reset resident resolution resolve resource respond
    response responsibility rest restrict result return reunion review ride right ring rise risk
    river role room rooftop rota round routine row rule run sale sales sales safe save say
    scale scan scenario score search season secret section secure see seek seem select sell
    send sense separate serve server service set settle settling setup several shape share shared
    sharing shift shop shopping short show shut sick side sign significant similar simple simply
    single sit site situation skip slow small smooth social sort sound source space spare speak
    special specific spend split spot spread spring staff stage stall stand stands start state
    statement status stay step stick stock stop story straight street stress stretch strict
    strong structure student study style subject submit success suggest suggestion suit suitable
    summer support sure survey swap sweep switch table tail take talk target task taste team term
    test tests text think third tidy tie tight tool top topic total touch tour town track trade
    train training transfer travel trial trouble true trust try tune type unable uncertain
    unfortunate unit update urgent use user usual value various version view visit voice vote wait
    walk walking walkthrough wall want wash watch water way weekend weight west whole wide win
    window wing winter wish woman women wonder word world worry worth write wrong yard year
    yesterday
    young youth zero round organise organising organiser adviser street spoken
    hidden daily across reservation reservations consideration considerations constraint constraints
    restriction restrictions limitation limitations compromise compromises tentative feasible
    feasibility workable viable fallback backup contingency alternate alternately candidate
    candidates summary recap consensus unanimous majority roster allocation allocate cancellation
    rearrange rearrangement relocate relocation displacement displace negotiate negotiation
    shuffle reshuffle squeeze buffer slack juggle nudge bump manageable acknowledge assumption
    recommendation recommend confirmation clarification clarify strategy conclusion conclude
    coordinator scheduler planner organizer organiser attendee attendees responder initiator""",
    )
)
"""Everyday words: evidence only beside a second word of the same label."""

IDIOMS: Final = tuple(
    tuple(phrase.split())
    for phrase in """ball is in your court
    in your court
    in my court
    bank on
    in your debt
    in debt to you
    must confess
    i confess
    to be fair
    bit of a gamble
    a gamble
    account for
    accounts for
    accounting for
    into account
    on account of
    pitch in
    chip in
    running low
    strike slot
    strike slots
    strike that
    strike out
    strike a balance
    strike a compromise
    run out of
    running out of
    in the running
    ran out of
    in the long run
    run it by
    run this by
    run that by
    run through
    run into
    on board
    across the board
    in good shape
    back to back
    on the table
    off the table
    on the fence
    a moving target
    play it safe
    on the safe side
    open to
    up in the air
    bear with me
    hold off
    hold on
    hang on
    a heads up
    heads up
    touch base
    circle back
    loop in
    in the loop
    ring the bell
    rings a bell
    no brainer
    my bad
    sit tight
    double check
    a win win
    for the record
    on record
    on the house
    a tall order
    last resort
    in my book
    deal breaker
    a dealbreaker
    a done deal
    the lesser evil
    a bargain
    bargaining
    trade off
    a tradeoff
    gamble on
    keep an eye
    see eye to eye
    take over from here
    piece of cake
    on the same page
    in the same boat
    break the ice
    test the waters
    kill two birds
    a full plate
    on my plate
    juggling
    patently
    cut to the chase
    a blessing
    by any stroke of luck
    stroke of luck
    second opinion
    painkiller
    a headache
    sober view
    swimming in
    drowning in
    like clockwork
    by the book
    school of thought
    food for thought
    in good faith
    leap of faith
    therapeutic""".splitlines()
)
"""Turns of phrase whose words mean something else; they are passed over."""


def is_telling(word: str) -> bool:
    """Whether a folded word is evidence by itself."""
    return (
        len(word) >= 2 and word not in FUNCTION and base(word) not in COMMON and not word.isdigit()
    )
